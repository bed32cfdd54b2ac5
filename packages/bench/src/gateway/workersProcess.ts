import cluster from 'node:cluster'
import type { Worker } from 'node:cluster'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectToPrimary, startFromFile, startWorkers, tuneHeap } from '@keyrail/gateway'
import { getFreePort } from '../getFreePort.ts'
import { createKey, signUp } from './developer.ts'
import { reportUsage } from './reportUsage.ts'

// The target of `keyrail serve --workers`: the primary process, and its workers, which run this file too.

const [, , workers = '', upstream = '', , workerFile] = process.argv
const environment = { KEYRAIL_SECRET: 'a-secret-of-the-bench-that-seals-nothing-of-worth' }
const used = 'used by a worker'

const startPrimary = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'keyrail.config.json')
  const port = await getFreePort()
  const url = `http://127.0.0.1:${port}`
  const limits = { perSecond: 100_000, burst: 100_000, perDay: 1_000_000_000, perMonth: 1_000_000_000 }
  const network = { chainId: 1, upstreams: [{ url: upstream }] }
  writeFileSync(
    file,
    JSON.stringify({
      publicUrl: url,
      listen: { host: '127.0.0.1', port },
      signUp: 'open',
      networks: { testnet: network, mainnet: network },
      limits: { apiKeys: limits, apps: limits },
      logRequests: false,
      storage: { file: join(folder, 'keyrail.db') },
    }),
  )
  // Workers get the arguments of this process.
  process.argv.push(file)
  cluster.setupPrimary({ args: process.argv.slice(2) })
  await startWorkers({ file, write: () => {}, environment, workers: Number(workers) })
  const developer = await signUp(url, 'developer@keyrail.test')
  const getCpuUs = async (worker: Worker): Promise<number> => {
    worker.send(used)
    for (;;) {
      const [message] = (await once(worker, 'message')) as [unknown]
      if (typeof message === 'number') return message
    }
  }
  reportUsage(
    { url, paths: { accepted: [await createKey(developer)] } },
    {
      getMoreCpuUs: async () => {
        const all = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
        return (await Promise.all(all.map(getCpuUs))).reduce((sum, each) => sum + each, 0)
      },
    },
  )
}

tuneHeap()
const worker = connectToPrimary()
if (worker === undefined) await startPrimary()
else {
  process.on('message', (message) => {
    if (message !== used) return
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  await startFromFile({ file: workerFile ?? '', write: () => {}, environment, worker })
}
