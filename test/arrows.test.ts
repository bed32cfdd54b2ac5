import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { arrows, planes, proxyFolders } from '../scripts/arrows.ts'
import { findImportProblems } from './findImportProblems.ts'
import { findManifestProblems } from './findManifestProblems.ts'
import { top } from './run.ts'

test('every package is in the table of arrows, and every manifest agrees with it', () => {
  expect(findManifestProblems(top, arrows)).toEqual([])
})

test('no import breaks an arrow or closes a loop', async () => {
  const { files, problems } = await findImportProblems(top)
  expect(problems).toEqual([])
  // If the checker could not read TypeScript, it would see no files and find no problem.
  const sources = globSync('packages/*/src/**/*.ts', { cwd: top })
  expect(files.filter((file) => /[/]src[/].*[.]ts$/.test(file)).sort()).toEqual(sources.sort())
})

test.each([
  ['packages/gateway/src', planes],
  ['packages/gateway/src/proxy', proxyFolders],
])('the order of the folders of %s has all of them', (folder, ordered) => {
  const place = folder.split('/').length
  const folders = globSync(`${folder}/*/**/*.ts`, { cwd: top }).map((file) => file.split('/')[place])
  expect(new Set(folders)).toEqual(new Set(ordered))
})

test('no step of a request asks whether it came over HTTP or a WebSocket', () => {
  const questions = /\bas never\b|\bas IncomingMessage\b|\bmessage [!=]== undefined\b|\btransport [!=]==/
  const files = globSync('packages/gateway/src/proxy/**/*.ts', { cwd: top }).filter(
    (file) => !file.endsWith('.test.ts'),
  )
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => questions.test(readFileSync(join(top, file), 'utf8')))).toEqual([])
})
