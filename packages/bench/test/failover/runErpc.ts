import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chainIds } from '@keyrail/gateway/test/startGateway.ts'
import { getFreePort } from '@keyrail/gateway/test/getFreePort.ts'
import { sendCase, startNodes } from './cases.ts'
import type { Case, NodePair, Outcome } from './cases.ts'
import { timeoutMs } from './runKeyrail.ts'

/**
 * The network of a case, configured for the best failover that eRPC's documentation describes, except hedging, which doubles the cost. The order of
 * the nodes is that of the config, so that the failing node gets the call first; those that lag are left out as in eRPC's own policy.
 */
const network = {
  architecture: 'evm',
  evm: { chainId: chainIds.testnet, emptyResultConfidence: 'blockHead' },
  // Every check of results that its documentation lists and that does not need data of the caller. Most are off by default.
  directiveDefaults: {
    retryEmpty: true,
    enforceHighestBlock: true,
    enforceGetLogsBlockRange: true,
    enforceNonNullTaggedBlocks: true,
    validateTransactionFields: true,
    validateTransactionBlockInfo: true,
    enforceLogIndexStrictIncrements: true,
    validateTxHashUniqueness: true,
    validateTransactionIndex: true,
    validateLogFields: true,
    validateLogsBloomEmptiness: true,
    validateLogsBloomMatch: true,
  },
  selectionPolicy: {
    evalInterval: '1s',
    evalFunc:
      '(upstreams) => upstreams.removeCordoned().excludeIf(any(blockNumberLagAbove(16), blockSecondsLagAbove(300))).whenEmpty(() => upstreams).sortBy((upstream) => (upstream.id === "first" ? 0 : 1))',
  },
  failsafe: [
    {
      matchMethod: '*',
      timeout: { duration: `${timeoutMs}ms` },
      retry: { maxAttempts: 5, delay: '0ms', emptyResultMaxAttempts: 2, emptyResultDelay: '100ms' },
    },
  ],
}

const toUpstream = (id: string, endpoint: string): object => ({
  id,
  type: 'evm',
  endpoint,
  evm: { chainId: chainIds.testnet, statePollerInterval: '1s' },
  failsafe: [{ matchMethod: '*', timeout: { duration: `${timeoutMs / 2}ms` }, retry: { maxAttempts: 1 } }],
})

/** The config of eRPC for all cases. Each is a project of its own, because eRPC remembers how a node did. */
const createErpcConfig = (port: number, nodes: readonly Pick<NodePair, 'first' | 'second'>[]): object => ({
  logLevel: 'error',
  server: { listenV4: true, httpHostV4: '127.0.0.1', httpPortV4: port, listenV6: false, maxTimeout: '15s' },
  metrics: { enabled: false },
  projects: nodes.map(({ first, second }, index) => ({
    id: `case-${index}`,
    networks: [network],
    upstreams: [toUpstream('first', first.url), toUpstream('second', second.url)],
  })),
})

/** How long eRPC gets to read the heads of the nodes and to rank them. */
const startUpMs = 30_000

/** Runs the cases through eRPC. */
export const runErpc = async (binary: string, cases: readonly Case[]): Promise<Outcome[]> => {
  const nodes: NodePair[] = []
  for (const one of cases) nodes.push(await startNodes(one))
  const port = await getFreePort()
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-erpc-'))
  const config = join(folder, 'erpc.yaml')
  // JSON is YAML.
  writeFileSync(config, JSON.stringify(createErpcConfig(port, nodes)))
  const child = spawn(binary, ['--config', config], { stdio: ['ignore', 'ignore', 'inherit'], cwd: folder })
  try {
    await sleep(startUpMs)
    const outcomes: Outcome[] = []
    for (const [index, one] of cases.entries()) {
      const { name, chainId, head } = one.failure
      outcomes.push(await sendCase(one, `http://127.0.0.1:${port}/case-${index}/evm/${chainIds.testnet}`))
      // A node on another chain or behind may be left out. If any other is, the case shows nothing.
      if (chainId === undefined && head === undefined && nodes[index]?.failed() === 0)
        throw new Error(`eRPC did not call the first node: ${name}`)
    }
    return outcomes
  } finally {
    child.kill()
    for (const { stop } of nodes) await stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
