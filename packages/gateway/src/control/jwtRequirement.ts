import type { FieldProblem } from './apiErrors.ts'

/** Whether an app requires JWTs without a key for them, so that it would reject every request. */
export const lacksJwtKey = ({ requireJwt = false }: { readonly requireJwt?: boolean }, keys: number): boolean =>
  requireJwt && keys === 0

/** The problem of an app that would require JWTs without a key for them. */
export const jwtKeyProblem: FieldProblem = {
  field: 'requireJwt',
  fix: 'would reject every request, because the app has no JWT key: import one first',
}
