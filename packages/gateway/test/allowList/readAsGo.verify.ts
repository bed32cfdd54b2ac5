import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getProgram, needs } from '../../../../scripts/externalPrograms.ts'
import { compileAllowList } from '../../src/auth/allowList/compileAllowList.ts'
import { foldName } from '../../src/lib/json/foldName.ts'
import { builtInTracers } from '../../src/auth/allowList/findCustomTracer.ts'

// The gateway predicts from a caller's JSON what a node will do with it. Several nodes are written in Go. Its encoding/json folds the case of
// names, uses the last of two members, and merges objects. These tests read the same params with a Go program: for a key with an address
// list, no call may pass that Go reads with another address.

/** The output of the Go program for one call. */
interface Seen {
  readonly error?: string
  readonly addresses: readonly string[]
  readonly tracers: readonly string[]
  readonly creates: boolean
  readonly overrides: boolean
  readonly all: boolean
}

const listed = `0x${'a1'.repeat(20)}`
const other = `0x${'b2'.repeat(20)}`

/** The text of an object with ordered, possibly repeated members. */
const arbitraryObject = (
  name: fc.Arbitrary<string>,
  value: fc.Arbitrary<string>,
  maxLength: number,
): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(name, value), { maxLength })
    .map((all) => `{${all.map(([key, text]) => `${key}:${text}`).join(',')}}`)

/** A spelling of a name: usually plain, sometimes with other letters that Go folds to the same, or with an escape. */
const spell = (name: string): fc.Arbitrary<string> =>
  fc
    .oneof(
      { weight: 12, arbitrary: fc.constant(name) },
      {
        weight: 2,
        arbitrary: fc.array(fc.nat(3), { minLength: name.length, maxLength: name.length }).map((changes) =>
          Array.from(name, (letter, at) => {
            if (changes[at] === 1) return letter.toUpperCase()
            if (changes[at] !== 2) return letter
            return { s: 'ſ', k: '\u212a' }[letter.toLowerCase()] ?? letter
          }).join(''),
        ),
      },
      { weight: 1, arbitrary: fc.constant(`\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`) },
      { weight: 1, arbitrary: fc.constantFrom('extra', '', 'transactions', 'İ') },
    )
    .map((text) => `"${text}"`)

const oneName = (...names: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...names).chain(spell)

const address = fc
  .oneof(
    {
      weight: 12,
      arbitrary: fc.constantFrom(listed, listed, listed, listed.toUpperCase(), `0x${listed.slice(2).toUpperCase()}`),
    },
    { weight: 2, arbitrary: fc.constant(other) },
    { weight: 1, arbitrary: fc.constantFrom('', listed.slice(2), `${listed}00`, 'vitalik.eth') },
  )
  .map((text) => JSON.stringify(text))

/** An unexpected value. */
const odd = fc.constantFrom(
  'null',
  '1',
  '"0x"',
  '[]',
  '{}',
  `["${other}"]`,
  `{"to":"${other}"}`,
  `[[{"to":"${other}"}]]`,
)
const orOdd = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 24, arbitrary: value }, { weight: 1, arbitrary: odd })
const createList = (item: fc.Arbitrary<string>, maxLength = 3): fc.Arbitrary<string> =>
  fc.array(item, { maxLength }).map((items) => `[${items.join(',')}]`)

const authorization = fc
  .tuple(spell('address'), address)
  .map(([name, value]) => `{"chainId":"0x1",${name}:${value},"nonce":"0x0"}`)
const callMember = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(spell('to'), orOdd(address)) },
  { weight: 2, arbitrary: fc.tuple(oneName('from', 'data', 'value', 'gas'), fc.constantFrom('"0x"', 'null')) },
  { weight: 1, arbitrary: fc.tuple(spell('authorizationList'), orOdd(createList(authorization, 2))) },
)
const callObject = fc
  .array(callMember, { minLength: 1, maxLength: 3 })
  .map((all) => `{${all.map(([name, value]) => `${name}:${value}`).join(',')}}`)
const stateOverrides = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('null', '{}') },
  { weight: 1, arbitrary: fc.constant(`{"${other}":{"code":"0x00"}}`) },
)
const tracerName = fc.constantFrom('"callTracer"', '"muxTracer"', '"prestateTracer"', '"{step: function() {}}"', 'null')
const tracerConfig = fc.letrec<{ mux: string }>((tie) => ({
  mux: arbitraryObject(
    fc.oneof(
      { weight: 8, arbitrary: oneName('callTracer', 'muxTracer', 'noopTracer') },
      { weight: 1, arbitrary: fc.constant('"{}"') },
    ),
    fc.oneof({ depthSize: 'small' }, fc.constantFrom('null', '{}'), tie('mux')),
    2,
  ),
})).mux
const traceMember = fc.oneof(
  fc.tuple(spell('tracer'), tracerName),
  fc.tuple(spell('tracerConfig'), orOdd(tracerConfig)),
  fc.tuple(spell('stateOverrides'), stateOverrides),
  fc.tuple(oneName('timeout', 'blockOverrides'), fc.constant('null')),
)
const traceConfig = fc
  .array(traceMember, { maxLength: 3 })
  .map((all) => `{${all.map(([name, value]) => `${name}:${value}`).join(',')}}`)
const simulatedBlock = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.tuple(spell('calls'), orOdd(createList(orOdd(callObject), 2))) },
      { weight: 1, arbitrary: fc.tuple(spell('stateOverrides'), stateOverrides) },
      { weight: 1, arbitrary: fc.tuple(spell('blockOverrides'), fc.constant('null')) },
    ),
    { minLength: 1, maxLength: 2 },
  )
  .map((all) => `{${all.map(([name, value]) => `${name}:${value}`).join(',')}}`)
const payload = arbitraryObject(spell('blockStateCalls'), orOdd(createList(orOdd(simulatedBlock), 2)), 2)
const logFilter = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.tuple(spell('address'), orOdd(fc.oneof(address, createList(address, 2)))) },
      { weight: 1, arbitrary: fc.tuple(oneName('fromBlock', 'toBlock'), fc.constant('"latest"')) },
    ),
    { minLength: 1, maxLength: 2 },
  )
  .map((all) => `{${all.map(([name, value]) => `${name}:${value}`).join(',')}}`)

const toParams = (...places: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...places).map((all) => `[${all.join(',')}]`)
const latest = fc.constant('"latest"')
const call: fc.Arbitrary<readonly [method: string, params: string]> = fc.oneof(
  fc.tuple(fc.constant('eth_call'), toParams(orOdd(callObject), latest, stateOverrides)),
  fc.tuple(fc.constant('debug_traceCall'), toParams(orOdd(callObject), latest, orOdd(traceConfig))),
  fc.tuple(fc.constant('debug_traceTransaction'), toParams(fc.constant('"0x01"'), orOdd(traceConfig))),
  { weight: 2, arbitrary: fc.tuple(fc.constant('eth_simulateV1'), toParams(orOdd(payload), latest)) },
  fc.tuple(fc.constant('eth_getLogs'), toParams(orOdd(logFilter))),
  fc.tuple(fc.constant('eth_getStorageValues'), toParams(arbitraryObject(address, fc.constant('[]'), 2), latest)),
)

describe('params as Go reads them', needs('go'), () => {
  let folder = ''
  let program = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'keyrail-go-'))
    program = join(folder, 'read-as-go')
    // Standard library only: no modules, no downloads.
    const env = { ...process.env, GO111MODULE: 'off', GOTOOLCHAIN: 'local', GOPROXY: 'off', GOFLAGS: '' }
    execFileSync(getProgram('go'), ['build', '-o', program, join(import.meta.dirname, 'readAsGo/main.go')], {
      cwd: folder,
      env,
    })
  }, 300_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const readAsGo = (calls: readonly (readonly [string, string])[]): readonly Seen[] =>
    execFileSync(program, { input: calls.map((one) => `${one.join(' ')}\n`).join(''), maxBuffer: 1 << 28 })
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Seen)

  const list = compileAllowList({ addresses: [{ value: listed }] })

  test('have only listed addresses and built-in tracers in calls that pass an address list', () => {
    const calls = fc.sample(call, 20_000)
    const counts = { allowed: 0, harmful: 0 }
    for (const [index, seen] of readAsGo(calls).entries()) {
      const [method = '', params = ''] = calls[index] ?? []
      const harmful =
        seen.error === undefined &&
        (seen.creates ||
          seen.overrides ||
          seen.all ||
          seen.addresses.some((one) => one !== listed) ||
          seen.tracers.some((one) => !builtInTracers.has(one)))
      if (harmful) counts.harmful += 1
      if (list.rejectCall({ method, params }) !== undefined) continue
      counts.allowed += 1
      expect(harmful, `${method} ${params} is allowed, and Go reads ${JSON.stringify(seen)}`).toBe(false)
    }
    // Otherwise the cases prove nothing.
    expect(counts.allowed).toBeGreaterThan(2_000)
    expect(counts.harmful).toBeGreaterThan(2_000)
  })

  test('have no spelling of a name that foldName does not fold to the same name', () => {
    // The basic plane without Chinese, Japanese and Korean, which have no case.
    const spellings = Array.from({ length: 0x1_0000 }, (_, code) => code)
      .filter((code) => (code > 0x7f && code < 0x2e80) || (code >= 0xa640 && code < 0xac00) || code >= 0xfb00)
      .map((code) => String.fromCharCode(code))
      .flatMap((letter) => [`${letter}tateOverrides`, `stateOverr${letter}des`, `bloc${letter}StateCalls`])
    const seen = readAsGo(
      spellings.map((name) =>
        name.endsWith('Calls')
          ? ['eth_simulateV1', `[{"${name}":[{"calls":[{"to":"${other}"}]}]}]`]
          : ['debug_traceTransaction', `["0x",{"${name}":{"${other}":{}}}]`],
      ),
    )
    const sameForGo = spellings.filter(
      (_, index) => seen[index]?.overrides === true || seen[index]?.addresses.length === 1,
    )
    expect(sameForGo).toEqual(['ſtateOverrides', 'bloc\u212aStateCalls'])
    expect(sameForGo.map(foldName)).toEqual(['stateoverrides', 'blockstatecalls'])
  })
})
