import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { canPrompt, promptSecret } from './promptSecret.ts'
import type { PromptStreams } from './promptSecret.ts'

/** A terminal that records its output and raw mode. */
function terminal(): PromptStreams & {
  readonly type: (text: string | Buffer) => void
  readonly seen: string[]
  readonly raw: boolean[]
} {
  const raw: boolean[] = []
  const seen: string[] = []
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (mode: boolean) => raw.push(mode) })
  const output = { isTTY: true, write: (text: string) => seen.push(text) }
  return { input, output, seen, raw, type: (text) => input.write(text) }
}

test('returns the input without showing it', async () => {
  const screen = terminal()
  const result = promptSecret('API key', screen)
  screen.type('kr_a12')
  screen.type('34\r')
  expect(await result).toBe('kr_a1234')
  expect(screen.seen.join('')).toBe('API key (not shown): \n')
  expect(screen.raw).toEqual([true, false])
})

test.each<[string, string, string]>([
  ['preserves spaces, which a password may have', ' pass word \n', ' pass word '],
  ['deletes the last character', 'kez\u007Fy\r', 'key'],
  ['deletes the whole line', 'wrong\u0015key\r', 'key'],
  ['ends at Ctrl-D', 'key\u0004', 'key'],
  ['returns an empty string for Enter alone', '\r', ''],
  ['returns the first line of pasted text', 'key\nmore\n', 'key'],
])('%s', async (_what, typed, expected) => {
  const screen = terminal()
  const result = promptSecret('Key', screen)
  screen.type(typed)
  expect(await result).toBe(expected)
})

test('a terminal without editing deletes the same', async () => {
  vi.stubEnv('TERM', 'dumb')
  onTestFinished(() => void vi.unstubAllEnvs())
  const screen = terminal()
  const result = promptSecret('Password', screen)
  screen.type('wrong\u0015kez\u007Fy\r')
  expect(await result).toBe('key')
})

test('joins a character that arrives in two chunks', async () => {
  const screen = terminal()
  const result = promptSecret('Password', screen)
  const bytes = Buffer.from('pä')
  screen.type(bytes.subarray(0, 2))
  screen.type(Buffer.concat([bytes.subarray(2), Buffer.from('\r')]))
  expect(await result).toBe('pä')
})

test('Ctrl-C exits with 130 and restores the echo', async () => {
  const screen = terminal()
  const result = promptSecret('Key', screen)
  screen.type('half\u0003')
  await expect(result).rejects.toMatchObject({ exitCode: 130 })
  expect(screen.raw).toEqual([true, false])
})

test('canPrompt requires a terminal', () => {
  const screen = terminal()
  expect(canPrompt(screen)).toBe(true)
  expect(canPrompt({ ...screen, output: { write: () => undefined } })).toBe(false)
  expect(canPrompt({ ...screen, input: new PassThrough() })).toBe(false)
})
