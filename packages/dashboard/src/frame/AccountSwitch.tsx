import { useQuery } from '@tanstack/react-query'
import { chooseAccount } from '../control/chosenAccount.ts'
import { accountsQuery, sessionQuery } from '../control/queries.ts'
import { SelectField } from '../parts/SelectField.tsx'

/** Chooses the account whose apps and keys the pages show. Hidden for users who have only one. */
export function AccountSwitch() {
  const { data: session } = useQuery(sessionQuery)
  const { data } = useQuery(accountsQuery)
  if (session === undefined || data === undefined || data.items.length < 2) return null
  return (
    <SelectField
      label="Account"
      name="account"
      value={session.actingFor.id}
      onChange={(id) => chooseAccount(id === session.account.id ? undefined : id)}
      options={data.items.map(({ id, name, kind }) => ({ value: id, title: kind === 'personal' ? 'Personal' : name }))}
    />
  )
}
