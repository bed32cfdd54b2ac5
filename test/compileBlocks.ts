import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExportedNames } from './exportedNames.ts'
import { run, top } from './run.ts'

/** Code that stands in a document. */
export interface Block {
  /** The document, from the top of the workspace. */
  readonly file: string
  /** The block's first line in it, from 1. */
  readonly line: number
  readonly language: 'ts' | 'tsx' | 'js'
  readonly code: string
  /** Modules whose exports the block may use without importing them; the first that has a name gives it. */
  readonly homes?: readonly { readonly from: string; readonly exports: ExportedNames }[]
}

// What a reader knows from the lines around a block. What a block declares or imports itself goes before these.
const around = `
declare const client: import('@keyrail/fetch').Client
declare const transport: import('@keyrail/core').Transport
declare const address: import('@keyrail/core').EndpointUrlOptions
declare const url: string
declare const baseUrl: string
declare const rpcUrl: string
declare const apiKey: string
declare const jwt: string
declare const account: \`0x\${string}\`
declare const hash: \`0x\${string}\`
declare const signal: AbortSignal
declare const networks: import('@keyrail/gateway').GatewayOptions['networks']
`

/**
 * Compiles blocks of code against the sources of the workspace, as strictly as the workspace compiles itself.
 * @param blocks - The blocks, each a module of its own.
 * @returns `file:line: message` for each error, with the line of the document.
 * @throws Where the compiler itself fails.
 */
export async function compileBlocks(blocks: readonly Block[]): Promise<string[]> {
  const room = mkdtempSync(join(tmpdir(), 'keyrail-docs-'))
  try {
    symlinkSync(join(top, 'node_modules'), join(room, 'node_modules'))
    writeFileSync(join(room, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(room, 'around.d.ts'), around)
    writeFileSync(
      join(room, 'tsconfig.json'),
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
          // Where names were missing, the second round checks again only what was changed.
          incremental: true,
          tsBuildInfoFile: 'checked.tsbuildinfo',
        },
        include: ['*'],
      }),
    )
    const files = blocks.map((block, index) => `block${index}.${extension(block)}`)
    for (const [index, block] of blocks.entries()) write(room, files[index] as string, block)
    let errors = await compile(room, files)
    const lacking = blocks.map((block, index) =>
      imports(
        block,
        errors.filter((error) => error.index === index),
      ),
    )
    if (lacking.some((added) => added.length > 0)) {
      for (const [index, block] of blocks.entries()) write(room, files[index] as string, block, lacking[index])
      errors = await compile(room, files)
    }
    return errors.map(({ index, line, text }) => {
      const { file, line: first } = blocks[index] as Block
      return `${file}:${first + line - 1}: ${text}`
    })
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
}

function extension({ language, code }: Block): string {
  if (language !== 'js') return language
  return /\brequire\(/.test(code) && !/^\s*import\b/m.test(code) ? 'cjs' : 'js'
}

function write(room: string, file: string, { code }: Block, added: readonly string[] = []): void {
  // What is added stands below, so that lines keep their numbers; it holds for the whole module all the same.
  const last = file.endsWith('.cjs') ? '' : 'export {}'
  writeFileSync(join(room, file), [code, ...added, last].join('\n'))
}

/** Imports of the names that were not found and that the block may use without importing them. */
function imports({ homes = [] }: Block, errors: readonly CompileError[]): string[] {
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

async function compile(room: string, files: readonly string[]): Promise<CompileError[]> {
  const { code, stdout, stderr } = await run('tsc', ['-p', '.', '--pretty', 'false', '--checkers', '1'], { cwd: room })
  const errors = [...stdout.matchAll(/^(block[^(]+)\((\d+),\d+\): (.*)$/gm)]
    .map(([, file = '', line, text = '']) => ({ index: files.indexOf(file), line: Number(line), text }))
    .sort((one, other) => one.index - other.index || one.line - other.line)
  // An error in a source of the workspace is for the type check to tell; any other means that nothing was compiled.
  const elsewhere = /^\S+[/][^(]+[.]ts\(\d+,\d+\): error/m.test(stdout)
  if (code !== 0 && errors.length === 0 && !elsewhere) throw new Error(`tsc failed: ${stdout}${stderr}`)
  return errors
}
