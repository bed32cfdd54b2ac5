import { useQuery, useQueryClient } from '@tanstack/react-query'
import { callApi } from '../control/callApi.ts'
import { identitiesQuery } from '../control/queries.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Note } from './Note.tsx'
import { SaveForm } from './SaveForm.tsx'
import { momentText } from './times.ts'

/** The accounts at providers of single sign-on that log in to this account. Renders nothing without one. */
export function ConnectedIdentities() {
  const { data } = useQuery(identitiesQuery)
  if (data === undefined || data.items.length === 0) return null
  return (
    <div className="stack">
      <Note>
        Single sign-on also logs in to this account, without the password. Disconnect it if you did not connect it.
      </Note>
      {data.items.map(({ issuer, connectedAt }) => (
        <Identity key={issuer} issuer={issuer} connectedAt={connectedAt} />
      ))}
    </div>
  )
}

function Identity({ issuer, connectedAt }: { readonly issuer: string; readonly connectedAt: string }) {
  const queries = useQueryClient()
  const disconnecting = useSubmit({
    send: (password) =>
      callApi('POST /api/account/identities/disconnect', {
        body: { issuer, ...(password !== undefined && { password }) },
      }),
    done: () => queries.invalidateQueries({ queryKey: identitiesQuery.queryKey }),
  })
  return (
    <SaveForm of={disconnecting} action="Disconnect">
      <p>
        {issuer}, connected {momentText(connectedAt)}
      </p>
    </SaveForm>
  )
}
