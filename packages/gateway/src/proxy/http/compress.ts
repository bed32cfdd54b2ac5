import type { Transform } from 'node:stream'
import { brotliCompressSync, constants, createBrotliCompress, createGzip, gzipSync } from 'node:zlib'
import type { Encoding } from './chooseEncoding.ts'

/** Shorter bodies are never compressed. They mostly fit in one packet as they are. */
export const minCompressedBytes = 1_024

/**
 * Bodies up to this size are compressed in one go on the main thread, in at most half a millisecond. Handing a body to another thread costs as much
 * as compressing 10 kB of it.
 */
export const compressedAtOnceUpTo = 64 * 1024

/** The memory of a compressor: its window and tables (measured: 270 kB for gzip, 510 kB for brotli), its input and its output. */
export const compressorBytes = 1024 * 1024

// Low levels. For JSON of nodes, gzip 6 and brotli 4 cost two to four times the CPU and save at most a fifth of the bytes that are left.
const gzip = { level: 1 }
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 } }
/** Fewer round trips to the other thread, and to a node whose result is streamed. */
const buffers = { chunkSize: 64 * 1024, writableHighWaterMark: 256 * 1024 }

/** Compresses a short body. */
export const compress = (body: Buffer, encoding: Encoding): Buffer =>
  encoding === 'br' ? brotliCompressSync(body, brotli) : gzipSync(body, gzip)

/** Creates a compressor for a long or streamed body. It works on another thread. Destroy it if the body is not written to its end. */
export const createCompressor = (encoding: Encoding): Transform =>
  encoding === 'br' ? createBrotliCompress({ ...brotli, ...buffers }) : createGzip({ ...gzip, ...buffers })
