import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getProgram, needs } from '../../../scripts/externalPrograms.ts'
import { tokenCode } from '../src/node/exampleToken.ts'
import { startDevCli } from './runCli.ts'
import type { RunningDev } from './runCli.ts'

// Clients of other projects, each a program of its own that uses a service of `keyrail dev`. Each prints what it did, one word a line.

const clients = join(import.meta.dirname, 'clients')
const run = promisify(execFile)

let dev: RunningDev
let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyrail-clients-'))
  dev = await startDevCli()
})
afterAll(async () => {
  dev.child.kill('SIGTERM')
  await dev.done
  rmSync(folder, { recursive: true, force: true })
})

/** Reads the first program in a language from a page of the docs. */
function readSample(page: string, language: string): string {
  const text = readFileSync(join(import.meta.dirname, '../../../docs', page), 'utf8')
  const [, code = ''] = new RegExp(`^\`\`\`${language} .*\\n([^]*?)^\`\`\`$`, 'm').exec(text) ?? []
  return code
}

/** Runs a program with the service's URLs. @returns What it printed, line by line. */
async function runClient(
  [program = '', ...words]: readonly string[],
  cwd: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const { app, fundedAccounts, tokens } = dev.service
  const env = {
    ...process.env,
    URL: app.urls.testnet,
    KEYRAIL_URL: app.urls.testnet,
    WS_URL: app.wsUrls.testnet,
    PRIVATE_KEY: fundedAccounts[0]?.privateKey,
    TOKEN: tokens.testnet.address,
    ...extra,
  }
  const { stdout } = await run(program, words, { cwd, env, timeout: 600_000 })
  return stdout.trim().split('\n')
}

test(
  "go-ethereum's ethclient and rpc read, write, subscribe, use filters and batches, and get every error",
  { ...needs('go'), timeout: 600_000 },
  async () => {
    const printed = await runClient([getProgram('go'), 'run', '-mod=readonly', '.'], join(clients, 'go'))
    expect(printed).toEqual([
      'reads',
      'writes',
      'subscriptions',
      'logs',
      'filters',
      'batches over HTTP',
      'batches over WebSocket',
      'failures over HTTP',
      'failures over WebSocket',
    ])
    // The sample of the docs, with the modules of the client.
    const sample = join(folder, 'sample')
    cpSync(join(clients, 'go'), sample, { recursive: true })
    writeFileSync(join(sample, 'main.go'), readSample('go-java.md', 'go'))
    expect(await runClient([getProgram('go'), 'run', '-mod=readonly', '.'], sample)).toEqual([
      expect.stringMatching(/^block \d+ chain 0x[0-9a-f]+$/),
    ])
  },
)

test(
  'web3j reads, uses filters, writes, subscribes and sends a batch',
  { ...needs('java', 'mvn'), timeout: 600_000 },
  async () => {
    const cwd = join(clients, 'java')
    const file = join(folder, 'classpath')
    await run(getProgram('mvn'), ['-q', '-B', 'dependency:build-classpath', `-Dmdep.outputFile=${file}`], {
      cwd,
      timeout: 600_000,
    })
    const printed = await runClient([getProgram('java'), '-cp', readFileSync(file, 'utf8'), 'Main.java'], cwd)
    expect(printed).toEqual(['reads', 'filters', 'writes', 'subscriptions', 'logs', 'batches'])
    writeFileSync(join(folder, 'Main.java'), readSample('go-java.md', 'java'))
    const classpath = readFileSync(file, 'utf8')
    expect(await runClient([getProgram('java'), '-cp', classpath, 'Main.java'], folder)).toEqual([
      expect.stringMatching(/^block \d+$/),
    ])
  },
)

test(
  'Hardhat reads, writes and uses filters, and Ignition deploys without waiting for confirmations',
  { timeout: 600_000 },
  async () => {
    const cwd = join(clients, 'hardhat')
    // The config of the docs, with a folder for what Ignition writes.
    const config = readFileSync(join(cwd, 'hardhat.config.js'), 'utf8')
    expect(config.replace(/^ {2}paths: .*\n/m, '').trim()).toBe(readSample('hardhat-foundry.md', 'js').trim())
    if (!existsSync(join(cwd, 'node_modules/hardhat')))
      await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'], { cwd })
    const artifact = join(folder, 'artifact.json')
    writeFileSync(
      artifact,
      JSON.stringify({
        _format: 'hh3-artifact-1',
        contractName: 'Token',
        sourceName: 'Token.sol',
        // The code has the arguments of the constructor.
        abi: [],
        bytecode: tokenCode,
        deployedBytecode: '0x',
        linkReferences: {},
        deployedLinkReferences: {},
      }),
    )
    const extra = { ARTIFACT: artifact, FOLDER: folder, HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' }
    expect(await runClient([process.execPath, 'program.mjs'], cwd, extra)).toEqual([
      'reads',
      'writes',
      'filters',
      'ignition',
    ])
  },
)
