import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runHere } from './runHere.ts'

const options = ['--network', 'base-mainnet', '--upstream', 'http://127.0.0.1:9']

test.each([
  [['--network', 'base-mainnet'], '--network and --upstream need each other'],
  [['--upstream', 'alchemy://ENV:KEY'], '--network and --upstream need each other'],
  [['--write-config'], '--write-config and --port need --network and --upstream'],
  [['--port', '8080'], '--write-config and --port need --network and --upstream'],
  [[...options, '--check'], '--check checks a config file'],
  [[...options, '--config', 'other.json'], 'are for a service without a config file'],
  [['--network', 'base-mainnet', '--upstream', 'alchmy://ENV:KEY'], 'has an unknown vendor: did you mean "alchemy"?'],
  [['--network', 'base-mainet', '--upstream', 'http://127.0.0.1:9'], 'Did you mean base-mainnet?'],
])('keyrail serve %j is rejected, and writes nothing', async (words, error) => {
  const { exitCode, stdout, stderr } = await runHere(['serve', ...words])
  expect(stderr).toContain(error)
  expect([exitCode, stdout, existsSync('data/secret')]).toEqual([2, '', false])
})

test('a key in --upstream is warned about, and not repeated', async () => {
  const key = 'a-key-of-a-node-0123456789'
  const words = ['--network', 'base-mainet', '--upstream', `https://node.example/v2/${key}`]
  const { stderr } = await runHere(['serve', ...words])
  expect(stderr).toContain("--upstream leaves the key in the shell's history; use ENV:NAME or FILE:PATH instead")
  expect(stderr).not.toContain(key)
})
