import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { getProgram, needs } from '../scripts/externalPrograms.ts'
import { exitCodes } from '../packages/cli/src/cliError.ts'
import { commands } from '../packages/cli/src/commandTable.ts'
import { formatCommandApi } from './formatCommandApi.ts'
import { getExportedNames } from './getExportedNames.ts'
import { getInstalled, getPacked } from './getPacked.ts'
import { formatPublicApi } from './formatPublicApi.ts'
import { publishedPackages } from './publishedPackages.ts'
import type { Target } from './publishedPackages.ts'
import { run, top } from './run.ts'
import { findUndocumentedExports } from './findUndocumentedExports.ts'

/** Returns the source of each entry point that users can import, by its key in `exports`. */
const getSources = (exports: Readonly<Record<string, Target>> = {}): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(exports).flatMap(([key, target]) => {
      const source = typeof target === 'object' ? target['@keyrail/source'] : undefined
      return typeof source === 'string' && !key.includes('*') ? [[key, source]] : []
    }),
  )

const libraries = publishedPackages.filter(({ manifest }) => getSources(manifest.exports).size > 0)

/** Returns the declaration files of an entry point, one for each module format. */
const getDeclarationFiles = (target: Target | undefined): readonly string[] =>
  typeof target === 'string' || target === undefined
    ? []
    : Object.entries(target).flatMap(([condition, inner]) =>
        condition === 'types' && typeof inner === 'string' ? [inner] : getDeclarationFiles(inner),
      )

describe.each(libraries)('$manifest.name', ({ folder, path, manifest }) => {
  const sources = [...getSources(manifest.exports)]

  test('has the API of its snapshot', async () => {
    // Reviewers see every API change here. It needs a changeset. To update the snapshot: npm run verify -- -u
    const { path, manifest } = getPacked(folder)
    const entries = Object.entries(manifest.exports ?? {}).map(([key, target]) => ({
      name: manifest.name + key.slice(1),
      files: getDeclarationFiles(target),
    }))
    const formats = entries[0]?.files.length ?? 0
    const apis = Array.from({ length: formats }, (_, at) =>
      formatPublicApi(
        entries.map(({ name, files }) => ({ name, text: readFileSync(join(path, files[at] as string), 'utf8') })),
      ),
    )
    expect(new Set(apis).size).toBe(1)
    await expect(await format(apis[0] ?? '')).toMatchFileSnapshot(`api/${folder}.txt`)
  })

  test.each(sources)('exports the same from the packed %s', (key, source) => {
    const { manifest, path: unpacked } = getPacked(folder)
    const declarations = getDeclarationFiles(manifest.exports?.[key])
    expect(declarations.length).toBeGreaterThan(0)
    for (const file of declarations) {
      expect(getAllNames(readFileSync(join(unpacked, file), 'utf8')), file).toEqual(
        getAllNames(readFileSync(join(path, source), 'utf8')),
      )
    }
  })

  test.each(sources)('has only named exports in its entry point %s', (_, source) => {
    const file = ts.createSourceFile('index.ts', readFileSync(join(path, source), 'utf8'), ts.ScriptTarget.Latest)
    const { statements } = file
    expect(statements.length).toBeGreaterThan(0)
    for (const statement of statements) {
      const isNamed =
        ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)
      expect(isNamed && statement.moduleSpecifier !== undefined, statement.getText(file)).toBe(true)
    }
  })

  test.each(sources)('documents every export of its entry point %s', (_, source) => {
    expect(findUndocumentedExports(join(path, source))).toEqual([])
  })
})

describe('at run time', () => {
  const printNames = (module: string): string => `console.log(JSON.stringify(Object.keys(${module}).sort()))`

  test.each(['core', 'fetch'])('%s has the same exports for import and require', async (folder) => {
    const { name } = getPacked(folder).manifest
    const { values } = getExportedNames(readFileSync(join(top, 'packages', folder, 'src/index.ts'), 'utf8'))
    const required = await run('node', ['-e', printNames('require(process.argv[1])'), name], { cwd: getInstalled() })
    const program = printNames('await import(process.argv[1])')
    const imported = await run('node', ['--input-type=module', '-e', program, name], { cwd: getInstalled() })
    expect(JSON.parse(required.stdout)).toEqual(values)
    expect(JSON.parse(imported.stdout)).toEqual(values)
  })
})

test('the command has the arguments and exit codes of its snapshot', async () => {
  await expect(formatCommandApi(commands, exitCodes)).toMatchFileSnapshot('api/cli.txt')
})

test('the Python package has the API of its snapshot', needs('python'), async () => {
  const { code, stdout, stderr } = await run(getProgram('python'), ['packages/python/tests/public_api.py'])
  expect(code, stderr).toBe(0)
  await expect(stdout).toMatchFileSnapshot('api/python.txt')
})

describe('the API snapshot of a package', () => {
  const declarations = [
    '/// <reference lib="esnext.disposable" />',
    "import { Z, A as B } from 'there';",
    "import { Priority } from './schema.js';",
    "export { Hex } from './schema.js';",
    '/** Says something. */',
    'declare function one(given: string): string;',
    'declare function one(given: number): number;',
    'interface Hidden { /** In words. */ readonly of: B }',
    'declare const another: Hidden;',
    'declare const arrow: (given: Hidden) => void;',
    'interface Inner { readonly priority: Priority }',
    'declare class Failure extends Error { readonly inner: Inner }',
    'export { another, arrow, Failure, one, Z };',
    'export type { Hidden as Shown };',
  ]
  const formatApi = (text: string): string => formatPublicApi([{ name: '@keyrail/core', text }])
  const api = formatApi(declarations.join('\n'))

  test('groups exports by kind and sorts them by name, with overloads in their order and without comments', () => {
    expect(api.replaceAll(/\s+/g, ' ').replaceAll(/=+ \/\/ /g, '')).toBe(
      [
        '// @keyrail/core',
        '// Libraries that the types need // esnext.disposable',
        "// Exports of other modules export { Hex } from '@keyrail/core/schema' export { Z } from 'there'",
        '// Functions declare const arrow: (given: Hidden) => void;',
        'declare function one(given: string): string; declare function one(given: number): number;',
        '// Constants declare const another: Hidden;',
        '// Classes declare class Failure extends Error { readonly inner: Inner; }',
        '// Types // Exported as Shown interface Hidden { readonly of: B; }',
        '// Not exported, but used above interface Inner { readonly priority: Priority; }',
        "// Imports import type { A as B } from 'there'",
        "import type { Priority } from '@keyrail/core/schema' import type { Z } from 'there' ",
      ].join(' '),
    )
  })

  test('has a section for each entry point', () => {
    const text = 'interface A {}\nexport type { A };'
    const both = formatPublicApi([
      { name: '@keyrail/core', text },
      { name: '@keyrail/core/schema', text },
    ])
    expect(both.match(/^[/][/] @keyrail.*/gm)).toEqual(['// @keyrail/core', '// @keyrail/core/schema'])
  })

  test('ignores comments and the order in a file, but shows a changed type, name, export or order of overloads', () => {
    const changed = (from: string, to: string): string => formatApi(declarations.join('\n').replace(from, to))
    expect(changed('Says something', 'Says another thing')).toBe(api)
    expect(formatApi([...declarations.slice(7), ...declarations.slice(1, 7), declarations[0]].join('\n'))).toBe(
      formatApi(declarations.slice(1).join('\n')),
    )
    expect(changed('given: number', 'given?: number')).not.toBe(api)
    expect(changed('of: B', 'of: Z')).not.toBe(api)
    expect(changed('another, arrow', 'arrow')).not.toBe(api)
    const [first = '', second = ''] = declarations.slice(5)
    expect(changed(`${first}\n${second}`, `${second}\n${first}`)).not.toBe(api)
  })

  test('throws for a statement without a name', () => {
    expect(() => formatApi("export * from 'there'")).toThrow('an export has no name')
    expect(() => formatApi('declare const { a }: { a: 1 }')).toThrow('has no name')
  })
})

test('finds an export without a docblock', () => {
  const directory = mkdtempSync(join(tmpdir(), 'keyrail-exports-'))
  writeFileSync(
    join(directory, 'inner.ts'),
    '/** A docblock. */\nexport const documented = 1\n// A comment.\nexport const undocumented = 2\nexport interface Bare {}\n',
  )
  writeFileSync(
    join(directory, 'index.ts'),
    "export { documented, undocumented } from './inner.ts'\nexport type { Bare } from './inner.ts'\n",
  )
  expect(findUndocumentedExports(join(directory, 'index.ts'))).toEqual(['undocumented', 'Bare'])
  rmSync(directory, { recursive: true })
})

test('no source file exports a star, but for the one that is all that core contains', () => {
  const sources = globSync('packages/*/src/**/*.ts', { cwd: top, exclude: ['packages/core/src/everything.ts'] })
  expect(sources.filter((file) => /^export \*/m.test(readFileSync(join(top, file), 'utf8')))).toEqual([])
})

/** Formats declarations with oxfmt. */
async function format(declarations: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-api-'))
  try {
    writeFileSync(join(folder, 'api.ts'), declarations)
    const { code, stderr } = await run('oxfmt', ['--config', join(top, '.oxfmtrc.json'), 'api.ts'], { cwd: folder })
    if (code !== 0) throw new Error(stderr)
    return readFileSync(join(folder, 'api.ts'), 'utf8').replaceAll(/^declare /gm, '')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function getAllNames(source: string): string[] {
  const { types, values } = getExportedNames(source)
  return [...types, ...values].sort()
}
