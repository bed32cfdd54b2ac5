import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Collects garbage. @returns The bytes of all objects, texts and buffers that are left. */
export const getAllBytes = (): number => {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Collects garbage. @returns The bytes of all buffers that are left. */
export const getArrayBufferBytes = (): number => {
  collect()
  return process.memoryUsage().arrayBuffers
}
