export { refusals } from '../src/refusal/refusals.ts'
export type { Refusal } from '../src/refusal/refusal.ts'
