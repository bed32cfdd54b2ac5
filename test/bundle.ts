import { basename, dirname } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build as buildWithEsbuild } from 'esbuild'
import { build as buildWithVite } from 'vite'

/** The bundlers that the packages are checked under. */
export const bundlers = ['esbuild', 'vite'] as const

/** One file of a bundle; the first is the entry. */
export interface Chunk {
  readonly name: string
  readonly code: string
}

/**
 * Bundles a program for browsers, minified, with every chunk of it: what a dynamic import brings counts as well.
 * @param bundler - Which one.
 * @param entry - The program's file; packages are found from its folder. What it exports stays exported.
 * @throws Where the bundler fails or warns.
 */
export function bundle(bundler: (typeof bundlers)[number], entry: string): Promise<readonly Chunk[]> {
  return bundler === 'esbuild' ? withEsbuild(entry) : withVite(entry)
}

/** Bytes on the wire: brotli at its best, each chunk by itself. */
export function weigh(chunks: readonly Chunk[]): number {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
  return chunks.reduce((sum, { code }) => sum + brotliCompressSync(code, { params }).length, 0)
}

async function withEsbuild(entry: string): Promise<readonly Chunk[]> {
  const { outputFiles, warnings } = await buildWithEsbuild({
    entryPoints: [entry],
    outdir: dirname(entry),
    write: false,
    bundle: true,
    format: 'esm',
    splitting: true,
    platform: 'browser',
    target: 'es2022',
    minify: true,
    logLevel: 'silent',
  })
  if (warnings.length > 0) throw new Error(warnings.map(({ text }) => text).join('\n'))
  return outputFiles.map(({ path, text }) => ({ name: basename(path), code: text }))
}

async function withVite(entry: string): Promise<readonly Chunk[]> {
  const warnings: string[] = []
  const built = await buildWithVite({
    root: dirname(entry),
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: {
        input: entry,
        preserveEntrySignatures: 'strict',
        onwarn: ({ message }) => warnings.push(message),
      },
    },
  })
  if (warnings.length > 0) throw new Error(warnings.join('\n'))
  if (!('output' in built)) throw new Error('vite gave more than one bundle')
  return built.output
    .filter((file) => file.type === 'chunk')
    .map(({ fileName, code }) => ({ name: basename(fileName), code }))
}
