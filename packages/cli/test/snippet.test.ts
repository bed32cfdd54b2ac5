import { snippet, snippetLanguages, snippetMethods } from '@keyrail/snippets'
import { describe, expect, test } from 'vitest'
import { commands } from '../src/commandTable.ts'
import { failedRun } from './failedRun.ts'
import { runHere } from './runHere.ts'

const address = { baseUrl: 'https://node.example/testnet' }

describe('keyrail snippet', () => {
  test('offers the methods, languages and libraries of the package', () => {
    const { method, language, library } = commands.find(({ name }) => name === 'snippet')?.options ?? {}
    expect(method?.values).toEqual(snippetMethods.map(({ id }) => id))
    expect(language?.values).toEqual(snippetLanguages.map(({ id }) => id))
    expect(library?.values).toEqual(snippetLanguages.flatMap(({ libraries }) => libraries.map(({ id }) => id)))
  })

  test('prints the program, and how to run it to standard error, without the key', async () => {
    const environment = { KEYRAIL_API_KEY: 'kr_not-to-be-printed', KEYRAIL_BASE_URL: address.baseUrl }
    const words = ['snippet', '--method', 'contract-logs', '--library', 'viem', '--with', 'keyrail']
    const { exitCode, stdout, stderr } = await runHere(words, environment)
    const { text, fileName, install, run } = snippet({
      address,
      method: 'contractLogs',
      library: 'viem',
      withKeyrail: true,
    })
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: text })
    for (const part of [fileName, install, run, 'KEYRAIL_API_KEY: the API key', `KEYRAIL_BASE_URL=${address.baseUrl}`])
      expect(stderr).toContain(part)
    expect(stdout + stderr).not.toContain('printed')
  })

  test('prints one line of JSON, also for an RPC URL with a network', async () => {
    const words = [
      '--rpc-url',
      'https://node.example/{network}',
      '--network',
      'mainnet',
      '--language',
      'Python',
      '--json',
    ]
    const { stdout } = await runHere(['snippet', ...words])
    expect(JSON.parse(stdout)).toEqual(
      snippet({ address: { rpcUrl: 'https://node.example/mainnet' }, language: 'python' }),
    )
  })

  test.each<[string, string[], RegExp]>([
    ['an unknown method', ['--method', 'latestBlok'], /unknown --method latestBlok\n.*did you mean latestBlock\?/],
    ['an unknown language', ['--language', 'cobol'], /Use one of typescript, javascript, python, shell/],
    ['a library of another language', ['--language', 'python', '--library', 'ethers'], /Use one of web3\.py/],
    ['an unknown --with', ['--with', 'care'], /Use one of keyrail/],
    ['an invalid account', ['--account', '0x12'], /values\.account must be an address/],
    ['two URLs', ['--base-url', 'http://a', '--rpc-url', 'http://b'], /cannot be combined/],
    ['a trailing slash', ['--base-url', 'http://a/'], /ends with "\/"/],
    ['an argument', ['latestBlock'], /takes no arguments/],
    ['a key in the arguments', ['--api-key', 'x'], /stay in the shell's history/],
  ])('rejects %s', async (_what, words, message) => {
    const report = await failedRun(['snippet', ...words])
    expect(report.exitCode).toBe(2)
    expect(report.lines.join('\n')).toMatch(message)
  })
})
