import type { RecordOf } from '../../storage/columns.ts'
import type { accountColumns } from '../../storage/tables.ts'

/** An account, as other parts of the service see it: without its password hash. */
export interface Account extends RecordOf<typeof accountColumns> {
  /** `false` for an account that only single sign-on can log in to. */
  readonly hasPassword: boolean
}
