import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { canPrompt, promptSecret } from './promptSecret.ts'
import type { PromptStreams } from './promptSecret.ts'

/** A terminal that remembers what was written on it and whether it echoes. */
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

test('gives what was typed and shows nothing of it', async () => {
  const screen = terminal()
  const answer = promptSecret('API key', screen)
  screen.type('kr_a12')
  screen.type('34\r')
  expect(await answer).toBe('kr_a1234')
  expect(screen.seen.join('')).toBe('API key (not shown): \n')
  expect(screen.raw).toEqual([true, false])
})

test.each<[string, string, string]>([
  ['spaces are kept, as a password may have them', ' pass word \n', ' pass word '],
  ['the last character is taken back', 'kez\u007Fy\r', 'key'],
  ['the whole line is taken back', 'wrong\u0015key\r', 'key'],
  ['Ctrl-D ends it', 'key\u0004', 'key'],
  ['Enter alone gives nothing', '\r', ''],
  ['what is pasted with more after it is the first line', 'key\nmore\n', 'key'],
])('%s', async (_what, typed, expected) => {
  const screen = terminal()
  const answer = promptSecret('Key', screen)
  screen.type(typed)
  expect(await answer).toBe(expected)
})

test('a character that comes in two parts is one', async () => {
  const screen = terminal()
  const answer = promptSecret('Password', screen)
  const bytes = Buffer.from('pä')
  screen.type(bytes.subarray(0, 2))
  screen.type(Buffer.concat([bytes.subarray(2), Buffer.from('\r')]))
  expect(await answer).toBe('pä')
})

test('Ctrl-C ends the command, and the terminal echoes again', async () => {
  const screen = terminal()
  const answer = promptSecret('Key', screen)
  screen.type('half\u0003')
  await expect(answer).rejects.toMatchObject({ exitCode: 130 })
  expect(screen.raw).toEqual([true, false])
})

test('nobody is asked where there is no terminal', () => {
  const screen = terminal()
  expect(canPrompt(screen)).toBe(true)
  expect(canPrompt({ ...screen, output: { write: () => undefined } })).toBe(false)
  expect(canPrompt({ ...screen, input: new PassThrough() })).toBe(false)
})
