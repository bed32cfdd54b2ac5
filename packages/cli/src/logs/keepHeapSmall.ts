import { setFlagsFromString } from 'node:v8'

/**
 * Keeps the memory of a process small that makes much garbage and needs little of it, as an export does. To be called before it does.
 *
 * Left alone, V8 lets the space for new objects grow to more than 100 MB, and on a busy machine the old ones to several times what is in use.
 * So it takes half of the memory, for a fourth more time of the processor.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=30')
}
