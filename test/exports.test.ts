import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { exportedNames } from './exportedNames.ts'
import type { ExportedNames } from './exportedNames.ts'
import { installed, packed } from './packed.ts'
import { publishedPackages } from './publishedPackages.ts'
import { run, top } from './run.ts'
import { undocumentedExports } from './undocumentedExports.ts'

// The public face, name by name. A name that comes, goes or moves is seen here, and belongs into a changeset.
const faces: Readonly<Record<string, ExportedNames>> = {
  core: { values: [], types: [] },
  fetch: { values: [], types: [] },
  gateway: { values: [], types: [] },
}

const withDoor = publishedPackages.filter(({ manifest }) => manifest.exports !== undefined)

test('every package that can be imported has its face listed here', () => {
  expect(Object.keys(faces).sort()).toEqual(withDoor.map(({ folder }) => folder).sort())
})

describe.each(withDoor)('$manifest.name', ({ folder, manifest }) => {
  const index = join(top, 'packages', folder, 'src/index.ts')
  const source = readFileSync(index, 'utf8')

  test('exports what is listed, and nothing else', () => {
    expect(exportedNames(source)).toEqual({
      values: [...(faces[folder]?.values ?? [])].sort(),
      types: [...(faces[folder]?.types ?? [])].sort(),
    })
  })

  test('exports the same where it is packed', () => {
    for (const file of packed(folder).files.filter((name) => /index[.]d[.]c?ts$/.test(name))) {
      const declared = exportedNames(readFileSync(join(packed(folder).path, file), 'utf8'))
      const all = [...declared.types, ...declared.values].sort()
      expect(all, file).toEqual([...(faces[folder]?.types ?? []), ...(faces[folder]?.values ?? [])].sort())
    }
  })

  test('has a door that only exports by name', () => {
    const file = ts.createSourceFile('index.ts', source, ts.ScriptTarget.Latest)
    const { statements } = file
    expect(statements.length).toBeGreaterThan(0)
    for (const statement of statements) {
      const isNamed =
        ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)
      expect(isNamed && statement.moduleSpecifier !== undefined, statement.getText(file)).toBe(true)
    }
  })

  test(`says what every export of ${manifest.name} is for`, () => {
    expect(undocumentedExports(index)).toEqual([])
  })
})

describe('at run time', () => {
  const program = `Object.keys(require(process.argv[1])).filter((name) => name !== 'default' && name !== 'module.exports').sort()`

  test.each(['core', 'fetch'])('%s gives the same names to import and to require', async (folder) => {
    const { manifest } = packed(folder)
    const required = await run('node', ['-p', `JSON.stringify(${program})`, manifest.name], { cwd: installed() })
    const imported = await run(
      'node',
      [
        '--input-type=module',
        '-e',
        `console.log(JSON.stringify(Object.keys(await import(process.argv[1])).sort()))`,
        manifest.name,
      ],
      { cwd: installed() },
    )
    expect(JSON.parse(required.stdout)).toEqual([...(faces[folder]?.values ?? [])].sort())
    expect(JSON.parse(imported.stdout)).toEqual([...(faces[folder]?.values ?? [])].sort())
  })
})

test('an export that says nothing of itself is told', () => {
  const room = mkdtempSync(join(tmpdir(), 'keyrail-exports-'))
  writeFileSync(
    join(room, 'inner.ts'),
    '/** Says. */\nexport const told = 1\n// Does not.\nexport const untold = 2\nexport interface Bare {}\n',
  )
  writeFileSync(
    join(room, 'index.ts'),
    "export { told, untold } from './inner.ts'\nexport type { Bare } from './inner.ts'\n",
  )
  expect(undocumentedExports(join(room, 'index.ts'))).toEqual(['untold', 'Bare'])
  rmSync(room, { recursive: true })
})

test('no source file exports a star', () => {
  const sources = globSync('packages/*/src/**/*.ts', { cwd: top })
  expect(sources.filter((file) => /^export \*/m.test(readFileSync(join(top, file), 'utf8')))).toEqual([])
})
