import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { exportedNames } from './exportedNames.ts'
import { installed, packed } from './packed.ts'
import { publishedPackages } from './publishedPackages.ts'
import { run, top } from './run.ts'
import { undocumentedExports } from './undocumentedExports.ts'

const withDoor = publishedPackages.filter(({ manifest }) => manifest.exports !== undefined)

describe.each(withDoor)('$manifest.name', ({ folder, manifest }) => {
  const index = join(top, 'packages', folder, 'src/index.ts')
  const source = readFileSync(index, 'utf8')

  test('exports what its list says, name by name', async () => {
    // A name that comes, goes or changes its kind is seen here, and belongs into a changeset. To accept it: npm run unit -- -u
    const { values, types } = exportedNames(source)
    const face = [...values.map((name) => `value ${name}`), ...types.map((name) => `type ${name}`)]
    await expect(`${face.join('\n')}\n`).toMatchFileSnapshot(`faces/${folder}.txt`)
  })

  test('exports the same where it is packed', () => {
    const { files, path } = packed(folder)
    const declarations = files.filter((name) => /index[.]d[.]c?ts$/.test(name))
    expect(declarations.length).toBeGreaterThan(0)
    for (const file of declarations) {
      expect(allNames(readFileSync(join(path, file), 'utf8')), file).toEqual(allNames(source))
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
  const namesOf = (module: string): string => `console.log(JSON.stringify(Object.keys(${module}).sort()))`

  test.each(['core', 'fetch'])('%s gives the same names to import and to require', async (folder) => {
    const { name } = packed(folder).manifest
    const { values } = exportedNames(readFileSync(join(top, 'packages', folder, 'src/index.ts'), 'utf8'))
    const required = await run('node', ['-e', namesOf('require(process.argv[1])'), name], { cwd: installed() })
    const imported = await run('node', ['--input-type=module', '-e', namesOf('await import(process.argv[1])'), name], {
      cwd: installed(),
    })
    expect(JSON.parse(required.stdout)).toEqual(values)
    expect(JSON.parse(imported.stdout)).toEqual(values)
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

function allNames(source: string): string[] {
  const { types, values } = exportedNames(source)
  return [...types, ...values].sort()
}
