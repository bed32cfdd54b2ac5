import { basename, dirname } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build as buildWithEsbuild } from 'esbuild'
import { build as buildWithVite } from 'vite'

/** The bundlers that the tests use. */
export const bundlers = ['esbuild', 'vite'] as const

/** One file of a bundle; the first is the entry. */
export interface Chunk {
  readonly name: string
  readonly code: string
}

/**
 * Bundles a program for browsers, minified. Returns every chunk, including those of dynamic imports.
 * @param bundler - The bundler to use.
 * @param entry - The program's file. Packages are resolved from its folder, and its exports are preserved.
 * @throws If the bundler fails or warns.
 */
export function bundle(bundler: (typeof bundlers)[number], entry: string): Promise<readonly Chunk[]> {
  return bundler === 'esbuild' ? withEsbuild(entry) : withVite(entry)
}

/** Returns the bytes on the wire: each chunk compressed separately, with brotli at the highest quality. */
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
  if (!('output' in built)) throw new Error('vite returned more than one bundle')
  return built.output
    .filter((file) => file.type === 'chunk')
    .map(({ fileName, code }) => ({ name: basename(fileName), code }))
}
