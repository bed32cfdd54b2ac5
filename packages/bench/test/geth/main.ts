import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compareResponses } from './compareResponses.ts'
import { readConversations } from './conversations.ts'
import { formatGeth } from './formatGeth.ts'
import { copyChain, importChain, startGeth } from './startGeth.ts'

const [binary, tests, version] = process.argv.slice(2)
if (binary === undefined || tests === undefined || version === undefined)
  throw new Error('Missing arguments. Usage: npm run measure -- peers:geth PATH_OF_GETH PATH_OF_TESTS VERSION_OF_TESTS')

const folder = mkdtempSync(join(tmpdir(), 'keyrail-geth-'))
const stops: (() => Promise<void>)[] = []
try {
  // There are two, because a transaction must be new to each.
  const direct = { binary, tests, dataFolder: join(folder, 'direct') }
  const behind = { binary, tests, dataFolder: join(folder, 'behind') }
  await importChain(direct)
  copyChain(direct.dataFolder, behind.dataFolder)
  const geths = []
  for (const options of [direct, behind]) {
    const geth = await startGeth(options)
    stops.push(geth.stop)
    geths.push(geth.url)
  }
  const [directUrl = '', behindUrl = ''] = geths
  const responses = await compareResponses(readConversations(tests), { directUrl, behindUrl })
  const geth = /Version: (\S+)/.exec(execFileSync(binary, ['version'], { encoding: 'utf8' }))?.[1]
  const day = new Date().toISOString().slice(0, 10)
  const how = `\`npm run measure -- peers:geth PATH_OF_GETH PATH_OF_TESTS VERSION_OF_TESTS\`, ${day}, geth ${geth}, tests of execution-apis ${version}, Node ${process.versions.node}.`
  writeFileSync(new URL('../../GETH.md', import.meta.url), formatGeth(responses, how))
} finally {
  for (const stop of stops) await stop()
  rmSync(folder, { recursive: true, force: true })
}
