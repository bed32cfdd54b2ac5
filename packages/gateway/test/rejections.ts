export { rejections } from '../src/errors/rejections.ts'
export type { Rejection } from '../src/errors/rejection.ts'
