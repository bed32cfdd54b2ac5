import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { watchFiles } from './watchFiles.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-watch-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const nobody = (): never => {
  throw new Error('must not be called')
}

test('tells once of a file that is written in pieces, replaced or touched, and nothing of its neighbours', async () => {
  const file = join(folder, 'config.json')
  writeFileSync(file, '1')
  const onChange = vi.fn<() => void>()
  const stop = watchFiles([file], { onChange, onBlind: nobody })
  const told = async (times: number): Promise<void> => {
    await expect.poll(() => onChange.mock.calls.length).toBe(times)
  }
  for (const text of ['2', '23', '234']) writeFileSync(file, text)
  await told(1)
  writeFileSync(join(folder, 'beside'), 'x')
  writeFileSync(`${file}.new`, '3')
  renameSync(`${file}.new`, file)
  await told(2)
  // The one that took its place is watched as well.
  utimesSync(file, 1, 1)
  await told(3)
  stop()
})

test('says where it cannot see', () => {
  const onBlind = vi.fn<() => void>()
  watchFiles([join(folder, 'none/config.json')], { onChange: nobody, onBlind })()
  expect(onBlind).toHaveBeenCalledOnce()
})
