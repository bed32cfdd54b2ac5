import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExportedNames } from './getExportedNames.ts'
import { run, top } from './run.ts'

/** A code block of a document. */
export interface Block {
  /** The document, from the top of the workspace. */
  readonly file: string
  /** The block's first line in it, from 1. */
  readonly line: number
  readonly language: 'ts' | 'tsx' | 'js'
  readonly code: string
  /** Modules whose exports the block may use without an import. The first module with a matching export wins. */
  readonly homes?: readonly { readonly from: string; readonly exports: ExportedNames }[]
}

// Globals of test runners and of Vite, and modules that only a test installs. Readers paste samples, so a sample declares every other name.
const surroundings = `
declare const test: typeof import('vitest').test
declare const expect: typeof import('vitest').expect
declare const beforeAll: typeof import('vitest').beforeAll
declare const beforeEach: typeof import('vitest').beforeEach
declare const afterAll: typeof import('vitest').afterAll
interface ImportMeta {
  readonly env: Readonly<Record<string, string | undefined>>
}
// Installed where packages/cli/test/clients.verify.ts runs the sample.
declare module '@nomicfoundation/hardhat-ignition-viem'
declare module '@nomicfoundation/hardhat-viem'
declare module 'hardhat/config'
`

// Names that an `@example` may use as if the reader had them. Programs in documents are pasted, so they declare all names.
const exampleNames = `
export declare const client: import('@keyrail/fetch').Client
export declare const transport: import('@keyrail/core').Transport
export declare const address: import('@keyrail/core').EndpointUrlOptions
export declare const url: string
export declare const account: \`0x\${string}\`
export declare const hash: \`0x\${string}\`
export declare const signal: AbortSignal
`

/** The names that examples may use without a declaration, for {@link Block.homes}. */
export const exampleHome: NonNullable<Block['homes']>[number] = {
  from: './exampleNames.ts',
  exports: { types: [], values: [...exampleNames.matchAll(/const (\w+)/g)].map(([, name = '']) => name) },
}

/**
 * Compiles code blocks against the sources of the workspace, with the workspace's own compiler options.
 * @param blocks - The blocks. Each is compiled as a separate module.
 * @returns `file:line: message` for each error, with the line of the document.
 * @throws If the compiler itself fails.
 */
export async function compileBlocks(blocks: readonly Block[]): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'keyrail-docs-'))
  try {
    symlinkSync(join(top, 'node_modules'), join(directory, 'node_modules'))
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(directory, 'around.d.ts'), surroundings)
    writeFileSync(join(directory, 'exampleNames.ts'), exampleNames)
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({
        extends: join(top, 'tsconfig.base.json'),
        compilerOptions: {
          lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'],
          isolatedDeclarations: false,
          declaration: false,
          noUnusedLocals: false,
          noUnusedParameters: false,
          allowJs: true,
          checkJs: true,
          jsx: 'preserve',
          // If names were missing, the second run only checks the changed files.
          incremental: true,
          tsBuildInfoFile: 'checked.tsbuildinfo',
        },
        include: ['*'],
      }),
    )
    const files = blocks.map((block, index) => `block${index}.${getExtension(block)}`)
    for (const [index, block] of blocks.entries()) write(directory, files[index] as string, block)
    let errors = await compile(directory, files)
    const missingImports = blocks.map((block, index) =>
      createImports(
        block,
        errors.filter((error) => error.index === index),
      ),
    )
    if (missingImports.some((added) => added.length > 0)) {
      for (const [index, block] of blocks.entries())
        write(directory, files[index] as string, block, missingImports[index])
      errors = await compile(directory, files)
    }
    return errors.map(({ index, line, text }) => {
      const { file, line: first } = blocks[index] as Block
      return `${file}:${first + line - 1}: ${text}`
    })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function getExtension({ language, code }: Block): string {
  if (language !== 'js') return language
  return /\brequire\(/.test(code) && !/^\s*import\b/m.test(code) ? 'cjs' : 'js'
}

function write(directory: string, file: string, { code }: Block, added: readonly string[] = []): void {
  // Imports are added at the end, so that line numbers do not change. They still apply to the whole module.
  const last = file.endsWith('.cjs') ? '' : 'export {}'
  writeFileSync(join(directory, file), [code, ...added, last].join('\n'))
}

/** Creates imports for the names that were not found and that the block may use without an import. */
function createImports({ homes = [] }: Block, errors: readonly CompileError[]): string[] {
  const names = new Set(errors.flatMap(({ text }) => missing.flatMap((pattern) => pattern.exec(text)?.[1] ?? [])))
  return [...names].flatMap((name) => {
    const home = homes.find(({ exports: { types, values } }) => types.includes(name) || values.includes(name))
    if (!home) return []
    const kind = home.exports.values.includes(name) ? '' : 'type '
    return [`import { ${kind}${name} } from ${JSON.stringify(home.from)}`]
  })
}

const missing = [
  /error TS(?:2304|2503|2552): Cannot find (?:name|namespace) '([^']+)'/,
  /error TS18004: No value exists in scope for the shorthand property '([^']+)'/,
]

interface CompileError {
  readonly index: number
  readonly line: number
  readonly text: string
}

async function compile(directory: string, files: readonly string[]): Promise<CompileError[]> {
  const { code, stdout, stderr } = await run('tsc', ['-p', '.', '--pretty', 'false', '--checkers', '1'], {
    cwd: directory,
  })
  const errors = [...stdout.matchAll(/^(block[^(]+)\((\d+),\d+\): (.*)$/gm)]
    .map(([, file = '', line, text = '']) => ({ index: files.indexOf(file), line: Number(line), text }))
    .sort((one, other) => one.index - other.index || one.line - other.line)
  // Errors in sources of the workspace are left to the type check. Any other failure means that nothing was compiled.
  const hasSourceError = /^\S+[/][^(]+[.]ts\(\d+,\d+\): error/m.test(stdout)
  if (code !== 0 && errors.length === 0 && !hasSourceError) throw new Error(`tsc failed: ${stdout}${stderr}`)
  return errors
}
