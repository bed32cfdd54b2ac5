import type { AppView } from '@keyrail/gateway'
import { useState } from 'react'
import { callApi } from '../../control/callApi.ts'
import { toConfirmBody } from '../../control/toConfirmBody.ts'
import { useAccounts } from '../../control/useAccounts.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Card } from '../../parts/Card.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { SelectField } from '../../parts/SelectField.tsx'

/** Moves an app to another account of the user. Hidden for users who have no other. */
export function AppMove({ app }: { readonly app: AppView }) {
  const { accounts, current, choose } = useAccounts()
  const [to, setTo] = useState('')
  const moving = useSubmit({
    check: () => ({ accountId: to === '' ? 'Choose an account' : undefined }),
    send: (password) =>
      callApi('POST /api/apps/{appId}/transfer', {
        params: { appId: app.id },
        body: { accountId: to, ...toConfirmBody(password) },
      }),
    done: () => choose(to),
    fields: ['accountId'],
  })
  const others = accounts.filter(({ id, scopes }) => id !== current && scopes.includes('apps:write'))
  if (others.length === 0) return null
  return (
    <Card
      title="Move to another account"
      help="service/teams#move-an-app"
      lead="Its key, lists, limits, metrics and request log move with it, and calls go on. It counts for the limits of the other account."
    >
      <SaveForm of={moving} action="Move app">
        <SelectField
          label="Account that gets the app"
          name="accountId"
          value={to}
          onChange={setTo}
          nothing="Choose an account"
          options={others.map(({ id, title }) => ({ value: id, title }))}
          required
          fix={moving.getFix('accountId')}
        />
      </SaveForm>
    </Card>
  )
}
