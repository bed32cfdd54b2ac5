import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import artifacts from '../artifacts/artifacts.json' with { type: 'json' }
import * as contracts from '../src/index.ts'
import { compileContracts, contractNames, tokenCopy } from './compile.ts'

const exportedValues = new Map<string, unknown>(Object.entries(contracts))
/** Returns an export by the name of the contract, such as `tokenAbi` for `Token`. */
const getExport = (name: string, part: 'Abi' | 'Bytecode'): unknown =>
  exportedValues.get(`${name[0]?.toLowerCase()}${name.slice(1)}${part}`)

test('the committed artifacts are up to date (if not, run npm run compile)', () => {
  const compiled = compileContracts()
  expect(artifacts).toEqual(compiled)
  for (const name of contractNames) {
    expect(getExport(name, 'Abi'), name).toEqual(compiled[name].abi)
    expect(getExport(name, 'Bytecode'), name).toBe(compiled[name].bytecode)
  }
  expect(readFileSync(tokenCopy, 'utf8')).toContain(`'${compiled.Token.bytecode}'`)
  expect(exportedValues.size).toBe(2 * contractNames.length)
})
