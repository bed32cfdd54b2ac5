import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { exitCodes } from '../packages/cli/src/cliError.ts'
import { commands } from '../packages/cli/src/commandTable.ts'
import { commandFace } from './commandFace.ts'
import { exportedNames } from './exportedNames.ts'
import { installed, packed } from './packed.ts'
import { publicFace } from './publicFace.ts'
import { publishedPackages } from './publishedPackages.ts'
import { run, top } from './run.ts'
import { undocumentedExports } from './undocumentedExports.ts'

const withDoor = publishedPackages.filter(({ manifest }) => manifest.exports !== undefined)

describe.each(withDoor)('$manifest.name', ({ folder, manifest }) => {
  const index = join(top, 'packages', folder, 'src/index.ts')
  const source = readFileSync(index, 'utf8')

  test('gives users the names, types and signatures that are on record', async () => {
    // What changes for users' compilers is seen here, in review, and belongs into a changeset. To accept it: npm run verify -- -u
    const { files, path } = packed(folder)
    const faces = files
      .filter((name) => /index[.]d[.]c?ts$/.test(name))
      .map((name) => publicFace(readFileSync(join(path, name), 'utf8')))
    expect(new Set(faces).size).toBe(1)
    await expect(await laidOut(faces[0] ?? '')).toMatchFileSnapshot(`faces/${folder}.txt`)
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

test('the command takes the words and ends with the codes that are on record', async () => {
  await expect(commandFace(commands, exitCodes)).toMatchFileSnapshot('faces/cli.txt')
})

// Any Python that is new enough reads the sources.
const python = process.env['KEYRAIL_PYTHON'] || 'python3'
const canRead = spawnSync(python, ['-c', 'import sys; assert sys.version_info >= (3, 10)']).status === 0
const mustRun = process.env['KEYRAIL_TEST_ALL'] === '1'

test.skipIf(!canRead && !mustRun)(
  'the Python package gives users the names and signatures that are on record',
  async () => {
    const { code, stdout, stderr } = await run(python, ['packages/python/tests/public_api.py'])
    expect(code, stderr).toBe(0)
    await expect(stdout).toMatchFileSnapshot('faces/python.txt')
  },
)

describe('what is on record of a package', () => {
  const declarations = [
    "import { Z, A as B } from 'there';",
    '/** Says something. */',
    'declare function one(given: string): string;',
    'declare function one(given: number): number;',
    'interface Hidden { /** In words. */ readonly of: B }',
    'declare const another: Hidden;',
    'export { another, one };',
    'export type { Hidden as Shown };',
  ]
  const face = publicFace(declarations.join('\n'))

  test('is names, imports and declarations in an order of their own, overloads in theirs, and no words', () => {
    expect(face.replaceAll(/\s+/g, ' ')).toBe(
      [
        'export type { Hidden as Shown } export { another } export { one }',
        "import { A as B } from 'there' import { Z } from 'there'",
        'interface Hidden { readonly of: B; }',
        'declare const another: Hidden;',
        'declare function one(given: string): string; declare function one(given: number): number;',
      ].join(' '),
    )
  })

  test('stays as it is where words or places change, and changes with a type, a name or the order of overloads', () => {
    const changed = (from: string, to: string): string => publicFace(declarations.join('\n').replace(from, to))
    expect(changed('Says something', 'Says another thing')).toBe(face)
    expect(publicFace([...declarations.slice(4), ...declarations.slice(0, 4)].join('\n'))).toBe(face)
    expect(changed('given: number', 'given?: number')).not.toBe(face)
    expect(changed('of: B', 'of: Z')).not.toBe(face)
    expect(changed('another, one', 'one')).not.toBe(face)
    const [first = '', second = ''] = declarations.slice(2)
    expect(changed(`${first}\n${second}`, `${second}\n${first}`)).not.toBe(face)
  })

  test('leaves nothing out that it cannot name', () => {
    expect(() => publicFace("export * from 'there'")).toThrow('an export has no name')
    expect(() => publicFace('declare const { a }: { a: 1 }')).toThrow('has no name here')
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

/** The same declarations in lines that can be read, and compared one by one. */
async function laidOut(declarations: string): Promise<string> {
  const room = mkdtempSync(join(tmpdir(), 'keyrail-face-'))
  try {
    writeFileSync(join(room, 'face.ts'), declarations)
    const { code, stderr } = await run('oxfmt', ['--config', join(top, '.oxfmtrc.json'), 'face.ts'], { cwd: room })
    if (code !== 0) throw new Error(stderr)
    return readFileSync(join(room, 'face.ts'), 'utf8')
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
}

function allNames(source: string): string[] {
  const { types, values } = exportedNames(source)
  return [...types, ...values].sort()
}
