import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../control/callApi.ts'
import { deploymentQuery, invitesQuery } from '../../control/queries.ts'
import { toConfirmBody } from '../../control/toConfirmBody.ts'
import { InviteForm } from '../../parts/InviteForm.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Note } from '../../parts/Note.tsx'
import { OpenInvites } from '../../parts/OpenInvites.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { dayText } from '../../parts/times.ts'

/** The open invites, and a form to create one. */
export function OperatorInvites() {
  const query = useQuery(invitesQuery)
  const { data: deployment } = useQuery(deploymentQuery)
  const { queryKey } = invitesQuery
  return (
    <>
      <PageHead title="Invites" windowTitle="Operator: invites" />
      {deployment?.signUp === 'open' && <Note>Sign-up is open, so users don’t need an invite.</Note>}
      <div className="columns">
        <InviteForm
          title="Invite a user"
          lead="Creates a link with which one person can sign up."
          email={{ label: 'Only for this email address', optional: true }}
          choice={{
            label: 'Expires after',
            name: 'days',
            first: '7',
            options: ['1', '7', '30'].map((value) => ({ value, title: value === '1' ? '1 day' : `${value} days` })),
          }}
          create={({ email, choice, send, password }) =>
            callApi('POST /api/admin/invites', {
              body: {
                days: Number(choice),
                ...(email && { email }),
                ...(send && { send }),
                ...toConfirmBody(password),
              },
            })
          }
          queryKey={queryKey}
        />
        <Loaded query={query}>
          {({ items }) => (
            <OpenInvites
              items={items}
              nothing="No open invites. Create one for each person who should sign up."
              column={{ title: 'Created', show: ({ createdAt }) => dayText(createdAt) }}
              revoke={(inviteId) => callApi('DELETE /api/admin/invites/{inviteId}', { params: { inviteId } })}
              queryKey={queryKey}
            />
          )}
        </Loaded>
      </div>
    </>
  )
}
