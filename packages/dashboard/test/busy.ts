import { cpus, loadavg } from 'node:os'

/** How many times longer everything takes, where others want the processors too. 1 on a quiet machine. */
export const busy = (): number => Math.max(1, (loadavg()[0] ?? 0) / cpus().length)
