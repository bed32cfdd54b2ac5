import { useAccounts } from '../control/useAccounts.ts'
import { SelectField } from '../parts/SelectField.tsx'

/** Chooses the account whose apps and keys the pages show. Hidden for users who have only one. */
export function AccountSwitch() {
  const { accounts, current, choose } = useAccounts()
  if (accounts.length < 2) return null
  return (
    <SelectField
      label="Account"
      name="account"
      value={current}
      onChange={choose}
      options={accounts.map(({ id, title }) => ({ value: id, title }))}
    />
  )
}
