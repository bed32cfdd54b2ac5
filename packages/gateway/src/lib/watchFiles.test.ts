import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { watchFiles } from './watchFiles.ts'

const folder = mkdtempSync(join(tmpdir(), 'keyrail-watch-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const mustNotBeCalled = (): never => {
  throw new Error('must not be called')
}

test('reports once that a file was written in parts, replaced or touched, and ignores other files', async () => {
  const file = join(folder, 'config.json')
  writeFileSync(file, '1')
  const onChange = vi.fn<() => void>()
  const stop = watchFiles([file], { onChange, onWatchError: mustNotBeCalled })
  const calls = async (times: number): Promise<void> => {
    await expect.poll(() => onChange.mock.calls.length).toBe(times)
  }
  for (const text of ['2', '23', '234']) writeFileSync(file, text)
  await calls(1)
  writeFileSync(join(folder, 'beside'), 'x')
  writeFileSync(`${file}.new`, '3')
  renameSync(`${file}.new`, file)
  await calls(2)
  // The file that replaced it is watched as well.
  utimesSync(file, 1, 1)
  await calls(3)
  stop()
})

test('reports a folder that it cannot watch', () => {
  const onWatchError = vi.fn<() => void>()
  watchFiles([join(folder, 'none/config.json')], { onChange: mustNotBeCalled, onWatchError })()
  expect(onWatchError).toHaveBeenCalledOnce()
})
