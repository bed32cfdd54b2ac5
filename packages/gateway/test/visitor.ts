export { createVisitor } from './service/visitor.ts'
export type { Visitor } from './service/visitor.ts'
