import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { commandGroups, commands } from '../packages/cli/src/commandTable.ts'
import { commandHelp, mainHelp } from '../packages/cli/src/output/helpText.ts'
import { plain } from '../packages/cli/src/output/style.ts'
import { findCommandProblems } from './findCommandProblems.ts'
import type { KnownCommands } from './findCommandProblems.ts'
import { compileBlocks, exampleHome } from './compileBlocks.ts'
import type { Block } from './compileBlocks.ts'
import { findExamples } from './findExamples.ts'
import { getExportedNames } from './getExportedNames.ts'
import { findFences } from './findFences.ts'
import { findLinkProblems } from './findLinkProblems.ts'
import { publishedPackages, workspacePackages } from './publishedPackages.ts'
import { top } from './run.ts'

const read = (file: string): string => readFileSync(join(top, file), 'utf8')

const documents = globSync(
  ['*.md', 'docs/**/*.md', 'packages/*/README.md', 'examples/README.md', 'examples/*/README.md'],
  {
    cwd: top,
    exclude: (name) => name.includes('node_modules'),
  },
).sort()

const languages: Readonly<Record<string, Block['language']>> = { ts: 'ts', tsx: 'tsx', js: 'js', jsx: 'tsx' }

const keyrailHelp = (name: string): string | undefined => {
  if (name === 'help') return mainHelp(commandGroups, plain).join('\n')
  const command = commands.find((one) => one.name === name)
  return command && commandHelp(command, plain).join('\n')
}

const known: KnownCommands = {
  scripts: Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts),
  packages: publishedPackages.map(({ manifest }) => manifest.name),
  programs: readdirSync(join(top, 'node_modules/.bin')),
  keyrailHelp,
  exists: (path) => existsSync(join(top, path)),
}

// Documents with errors that the checker must report, and one without errors.
const planted: Readonly<Record<string, string>> = {
  'broken.md': '# Title\n\n```ts\nconst fine: number = 1\nconst wrong: number = "one"\n```\n',
  'wrong.md': [
    '```ts\nawait client.eth_blokNumber()\n```',
    "```ts\nawait client.eth_getBlockByNumber('latest')\n```",
    "```js\nimport { createClient } from '@keyrail/fetch'\ncreateClient({ url: 'http://a', apiKey: 'b' })\n```",
    "```js\nimport { createKlient } from '@keyrail/fetch'\n```",
    '```ts\ncreateClient({ url })\n```',
    '```diff ts\n-client.eth_blokNumber()\n+client.eth_blockNumber()\n client.eth_gazPrice()\n```',
  ].join('\n\n'),
  'pasted.md':
    '```ts\nconst endpoint = { baseUrl: "https://node.example/mainnet", apiKey }\nexport { endpoint as client }\n```\n',
  'fine.md':
    '```ts\nawait client.eth_blockNumber()\n```\n```ts\nconst url: number = 1\nexport { url as client }\n```\n',
}
const plantedSource = [
  '/**',
  ' * @example',
  ' * const transport = createTransport({ url })',
  ' * const name: string = thisOne(transport)',
  ' * @returns nothing',
  ' */',
  'export function thisOne() {}',
  '/** @example noSuchThing() */',
].join('\n')

const examples = getExamples(
  globSync('packages/*/src/**/*.ts', { cwd: top, exclude: ['**/*.test.ts', '**/*.test-d.ts'] }).sort(),
)

let errors: readonly string[]
/** Returns the compiler errors of some files. */
const getErrors = (...files: readonly string[]): string[] =>
  errors.filter((error) => files.includes(error.slice(0, error.indexOf(':'))))

beforeAll(async () => {
  // All blocks are compiled at once, because each run of the compiler first reads the sources of the workspace.
  const homes = [{ from: '@keyrail/core', exports: getExportedNames(read('packages/core/src/index.ts')) }, exampleHome]
  errors = await compileBlocks([
    ...documents.flatMap((file) => getCodeBlocks(file, read(file))),
    ...examples,
    ...Object.entries(planted).flatMap(([file, markdown]) =>
      getCodeBlocks(file, markdown).map((block) =>
        file === 'pasted.md' ? block : Object.assign(block, { homes: [exampleHome] }),
      ),
    ),
    ...findExamples(plantedSource).map((example): Block => ({
      file: 'thisOne.ts',
      language: 'ts',
      homes,
      ...example,
    })),
  ])
}, 300_000)

describe('the documents', () => {
  test('contain code that compiles', () => {
    expect(getErrors(...documents)).toEqual([])
  })

  test('contain blocks in known languages, JSON that parses, and commands that exist', () => {
    expect(documents.flatMap((file) => findBlockProblems(file, read(file), known))).toEqual([])
  })

  test('contain no markers of a merge conflict', () => {
    expect(documents.filter((file) => /^(<{7}|>{7}|={7}) ?/m.test(read(file)))).toEqual([])
  })

  test('have links and paths that exist', () => {
    expect(documents.flatMap((file) => findLinkProblems(top, file, read(file)))).toEqual([])
  })
})

test('every @example in the sources compiles', () => {
  expect(examples.length).toBeGreaterThan(10)
  expect(getErrors(...examples.map(({ file }) => file))).toEqual([])
})

describe('the checker', () => {
  test('reports code that does not compile, with its line', () => {
    expect(getErrors('broken.md')).toEqual([expect.stringMatching(/^broken[.]md:5: error TS2322/)])
  })

  test('reports a wrong method, param, option or import, in TypeScript and JavaScript', () => {
    expect(getErrors('wrong.md').map((error) => Number(error.split(':')[1]))).toEqual([2, 6, 11, 15, 19, 23, 25, 25])
  })

  test('reports a name that the program of a document does not declare', () => {
    expect(getErrors('pasted.md')).toEqual([expect.stringMatching(/^pasted[.]md:2: error TS18004: .*'apiKey'/)])
  })

  test('lets a block use the declared names, and declare them itself', () => {
    expect(getCodeBlocks('fine.md', planted['fine.md'] ?? '')).toHaveLength(2)
    expect(getErrors('fine.md')).toEqual([])
  })

  test('lets a docblock use only the exports of its file and of the packages', () => {
    const [first, second] = findExamples(plantedSource)
    expect(first).toEqual({
      line: 2,
      code: '\nconst transport = createTransport({ url })\nconst name: string = thisOne(transport)',
    })
    expect(second).toEqual({ line: 8, code: ' noSuchThing()' })
    expect(getErrors('thisOne.ts').map((error) => error.replace(/: error.*/, ''))).toEqual([
      'thisOne.ts:4',
      'thisOne.ts:8',
    ])
  })

  test('reports a block without a known language, invalid JSON or YAML, and a fence that is never closed', () => {
    expect(findBlockProblems('a.md', '```\nhello\n```', known)).toEqual([
      'a.md:2: set the language of the block: ts, js, json, yaml, sh, python, text, or diff and one of them',
    ])
    expect(findBlockProblems('a.md', '```json\n{ a }\n```', known)).toEqual(['a.md:2: the JSON does not parse'])
    expect(findBlockProblems('a.md', '```yaml\na: [\n```', known)).toEqual(['a.md:2: the YAML does not parse'])
    expect(findBlockProblems('a.md', '```text\n{ a }\n```', known)).toEqual([])
    expect(() => findFences('```ts\nconst a = 1\n')).toThrow('line 1: a fence is never closed')
  })

  test('reports a command that does not exist', () => {
    const shell = [
      'npm start && npm run nothing',
      'npm install @keyrail/fetsch viem',
      'npx keyrail nothing',
      '$ npx keyrail call eth_chainId --speed 9 # --no-option',
      'node scripts/nothing.mjs',
      './nothing.sh',
      'npx nothing',
      'npm test',
    ].join('\n')
    expect(findCommandProblems(shell, known)).toEqual([
      'there is no script nothing',
      'there is no package @keyrail/fetsch',
      'there is no keyrail nothing',
      'keyrail call has no --speed',
      'there is no scripts/nothing.mjs',
      'there is no ./nothing.sh',
      'npx finds no nothing',
    ])
  })

  test('reports links and paths that do not exist', () => {
    const markdown = [
      '# One thing',
      '[here](#one-thing) [there](#another) [code](package.json) [gone](gone.md) [web](https://example.com)',
      '`packages/core/src/index.ts` `packages/core/src/gone.ts` `core/src` `text/html` `packages/*/src` `[a](b.md)`',
    ].join('\n')
    expect(findLinkProblems(top, 'a.md', markdown)).toEqual([
      'a.md: the link #another names no heading',
      'a.md: the link gone.md leads nowhere',
      'a.md: there is no packages/core/src/gone.ts',
    ])
  })
})

/** Returns the code blocks of a document. A diff is two blocks: the program before the change, and after it. */
function getCodeBlocks(file: string, markdown: string): Block[] {
  return findFences(markdown).flatMap(({ info, line, code }) => {
    const isDiff = info.startsWith('diff ')
    const language = languages[info.split(/\s/)[isDiff ? 1 : 0] ?? '']
    if (language === undefined) return []
    return (isDiff ? ['+', '-'].map((sign) => withoutLines(code, sign)) : [code]).map((text) => ({
      file,
      line,
      code: text,
      language,
    }))
  })
}

/** Returns one side of a diff: lines with the sign become empty, so that the others keep their numbers. */
const withoutLines = (diff: string, sign: string): string =>
  diff
    .split('\n')
    .map((line) => (line.startsWith(sign) ? '' : line.slice(1)))
    .join('\n')

const dataFormats: Readonly<Record<string, (text: string) => unknown>> = {
  json: (text) => JSON.parse(text) as unknown,
  yaml: (text) => parse(text) as unknown,
}

function findBlockProblems(file: string, markdown: string, commands: KnownCommands): string[] {
  return findFences(markdown).flatMap(({ info: language, line, code }) => {
    // A title can follow: adjacent blocks with titles are tabs on the site. In a diff, the language of the program follows.
    const [first = '', second = ''] = language.split(/\s/)
    const info = first === 'diff' ? second : first
    // The tests of packages/python run Python blocks, and packages/cli/test/clients.verify.ts those in Go and Java.
    if (info in languages || ['text', 'python', 'go', 'java', 'toml'].includes(info)) return []
    if (info === 'sh') return findCommandProblems(code, commands).map((problem) => `${file}:${line}: ${problem}`)
    const parseData = dataFormats[info]
    if (parseData === undefined)
      return [
        `${file}:${line}: set the language of the block: ts, js, json, yaml, sh, python, text, or diff and one of them`,
      ]
    try {
      parseData(code)
      return []
    } catch {
      return [`${file}:${line}: the ${info.toUpperCase()} does not parse`]
    }
  })
}

/** Returns the examples in source files. Each may use the exports of its file and of the packages without an import. */
function getExamples(files: readonly string[]): Block[] {
  const entries = workspacePackages
    .filter(({ folder }) => existsSync(join(top, 'packages', folder, 'src/index.ts')))
    .map(({ folder, manifest }) => ({
      folder,
      from: manifest.name,
      exports: getExportedNames(read(`packages/${folder}/src/index.ts`)),
    }))
  return files.flatMap((file) => {
    const source = read(file)
    const examples = findExamples(source)
    if (examples.length === 0) return []
    const folder = file.split('/')[1]
    const homes = [
      { from: join(top, file), exports: getExportedNames(source) },
      ...entries.filter((entry) => entry.folder === folder),
      ...entries.filter((entry) => entry.folder !== folder),
      exampleHome,
    ]
    return examples.map(({ line, code }): Block => ({ file, line, code, language: 'ts', homes }))
  })
}
