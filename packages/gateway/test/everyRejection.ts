export { refusals } from '../src/errors/rejections.ts'
export type { Refusal } from '../src/errors/rejection.ts'
