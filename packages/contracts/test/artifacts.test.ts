import { expect, test } from 'vitest'
import artifacts from '../artifacts/artifacts.json' with { type: 'json' }
import * as contracts from '../src/index.ts'
import { compileContracts, contractNames } from './compile.ts'

const held = new Map<string, unknown>(Object.entries(contracts))
/** `tokenAbi` is of `Token`. */
const exported = (name: string, what: 'Abi' | 'Bytecode'): unknown =>
  held.get(`${name[0]?.toLowerCase()}${name.slice(1)}${what}`)

test('what is committed is what solc makes of the sources: npm run compile writes it anew', () => {
  const compiled = compileContracts()
  expect(artifacts).toEqual(compiled)
  for (const name of contractNames) {
    expect(exported(name, 'Abi'), name).toEqual(compiled[name].abi)
    expect(exported(name, 'Bytecode'), name).toBe(compiled[name].bytecode)
  }
  expect(held.size).toBe(2 * contractNames.length)
})
