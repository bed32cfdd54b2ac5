import type { Script } from '../faultServer.ts'
import { answering } from './answering.ts'

/** A fault, and how often it comes against the others. */
export interface Fault {
  readonly name: string
  readonly weight?: number
  readonly script: Script
}

/** Options of {@link mixed}. */
export interface MixOptions {
  /** From 0 to 1, like `Math.random`: a seeded one makes a run that can be run again. */
  readonly random: () => number
  /** The part of all requests that meets a fault, from 0 to 1. */
  readonly share: number
  readonly faults: readonly Fault[]
  readonly good?: Script
  /** Told of each fault just before it happens. */
  readonly onFault?: (fault: Fault, ...met: Parameters<Script>) => void
}

/** Some requests meet a fault, chosen by weight, and all others a good answer. */
export function mixed({ random, share, faults, good = answering(), onFault }: MixOptions): Script {
  const total = faults.reduce((sum, { weight = 1 }) => sum + weight, 0)
  const choose = (): Fault | undefined => {
    let left = random() * total
    return faults.find(({ weight = 1 }) => (left -= weight) < 0)
  }
  return (...met) => {
    const fault = random() < share ? choose() : undefined
    if (fault) onFault?.(fault, ...met)
    ;(fault?.script ?? good)(...met)
  }
}
