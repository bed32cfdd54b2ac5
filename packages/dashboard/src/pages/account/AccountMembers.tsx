import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ActingAccountView, MemberRole, MemberView } from '@keyrail/gateway'
import { useRef } from 'react'
import { callApi } from '../../control/callApi.ts'
import { chooseAccount } from '../../control/chosenAccount.ts'
import { memberInvitesQuery, membersQuery, sessionQuery } from '../../control/queries.ts'
import { toConfirmBody } from '../../control/toConfirmBody.ts'
import { useMay } from '../../control/useMay.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Card } from '../../parts/Card.tsx'
import { ConfirmedButton } from '../../parts/ConfirmedButton.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { InviteForm } from '../../parts/InviteForm.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Needs } from '../../parts/Needs.tsx'
import { Problem } from '../../parts/Note.tsx'
import { OpenInvites } from '../../parts/OpenInvites.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { dayText } from '../../parts/times.ts'
import { CreateTeam, DeleteTeam, TeamDetails, TeamRules } from './TeamCards.tsx'
import { TableHead } from '../../parts/TableHead.tsx'

const titles: Readonly<Record<MemberRole, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  developer: 'Developer',
  viewer: 'Viewer',
}

/** The roles that a member with this role can give, and take away. */
const getGrantable = (own: MemberRole) =>
  (['owner', 'admin', 'developer', 'viewer'] as const)
    .filter((role) => own === 'owner' || role !== 'owner')
    .map((value) => ({ value, title: titles[value] }))

/** The members of the account, and invites. A personal account has none: its page creates a team. */
export function AccountMembers() {
  const session = useQuery(sessionQuery)
  const members = useQuery(membersQuery)
  return (
    <Loaded query={session}>
      {({ account, actingFor }) => (
        <>
          <PageHead
            title="Members"
            windowTitle="Account: members"
            lead={
              actingFor.kind === 'personal'
                ? 'This is your personal account. A team has apps and keys that several people share.'
                : `Who can use the apps and keys of ${actingFor.name}. Viewers read, developers change apps and keys and can reveal them, admins manage members, owners can do everything.`
            }
          />
          {actingFor.kind === 'personal' ? (
            <CreateTeam />
          ) : (
            <div className="columns">
              <Needs scope="members">
                <Invite own={actingFor} />
              </Needs>
              <Loaded query={members}>
                {({ items }) => (
                  <Card title="Members">
                    <table className="table cards">
                      <TableHead titles={['Email address', 'Role', 'Since']} hasButtons />
                      <tbody>
                        {items.map((member) => (
                          <Member
                            key={member.userId}
                            member={member}
                            own={actingFor}
                            isSelf={member.userId === account.id}
                          />
                        ))}
                      </tbody>
                    </table>
                  </Card>
                )}
              </Loaded>
              <Needs scope="members">
                <Invites />
              </Needs>
              <TeamDetails team={actingFor} />
              <Needs scope="rules">
                <TeamRules isRequired={actingFor.membersNeedSecondFactor} />
              </Needs>
              <Needs scope="delete">
                <DeleteTeam name={actingFor.name} />
              </Needs>
            </div>
          )}
        </>
      )}
    </Loaded>
  )
}

function Member({
  member: { userId, email, role, createdAt },
  own,
  isSelf,
}: {
  readonly member: MemberView
  readonly own: ActingAccountView
  readonly isSelf: boolean
}) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const finish = (text: string) => {
    say(text)
    return Promise.all(
      [membersQuery, sessionQuery].map(({ queryKey }) => queries.invalidateQueries({ queryKey: [...queryKey] })),
    )
  }
  const chosen = useRef(role)
  const changing = useSubmit({
    send: (password) =>
      callApi('PUT /api/members/{userId}/role', {
        params: { userId },
        body: { role: chosen.current, ...toConfirmBody(password) },
      }),
    done: () => finish('Role changed'),
  })
  const mayChange = useMay()('members') && (own.role === 'owner' || role !== 'owner')
  return (
    <tr>
      <th scope="row">
        {email}
        {isSelf && ' (you)'}
        <Problem text={changing.problem} />
      </th>
      <td data-label="Role">
        {mayChange ? (
          <select
            className="input"
            aria-label={`Role of ${email}`}
            value={role}
            disabled={changing.isPending}
            onChange={({ target }) => {
              chosen.current = target.value as MemberRole
              changing.submit()
            }}
          >
            {getGrantable(own.role).map(({ value, title }) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        ) : (
          titles[role]
        )}
      </td>
      <td data-label="Since">{dayText(createdAt)}</td>
      <td>
        <div className="row end">
          {isSelf ? (
            <ConfirmedButton
              size="little"
              kind="danger"
              label="Leave the team"
              title="Leave the team?"
              lead="You lose access to the team, and your access tokens for it stop working."
              action="Leave"
              send={(password) => callApi('POST /api/team/leave', { body: toConfirmBody(password) })}
              done={() => chooseAccount(undefined)}
            >
              Leave
            </ConfirmedButton>
          ) : (
            mayChange && (
              <ConfirmedButton
                size="little"
                kind="danger"
                label={`Remove ${email}`}
                title={`Remove ${email}?`}
                lead={`${email} loses access to the team, and the access tokens for it stop working.`}
                action="Remove"
                send={(password) =>
                  callApi('POST /api/members/{userId}/remove', { params: { userId }, body: toConfirmBody(password) })
                }
                done={() => finish('Removed')}
              >
                Remove
              </ConfirmedButton>
            )
          )}
        </div>
      </td>
    </tr>
  )
}

function Invite({ own }: { readonly own: ActingAccountView }) {
  return (
    <InviteForm<MemberRole>
      title="Invite a member"
      lead="Only the user with this email address can use the invite."
      email={{ label: 'Email address', optional: false }}
      choice={{ label: 'Role', name: 'role', first: 'developer', options: getGrantable(own.role) }}
      create={async ({ email, choice: role, send, password }) => {
        const { url, invite } = await callApi('POST /api/members/invites', {
          body: { email, role, ...(send && { send }), ...toConfirmBody(password) },
        })
        return { url, expiresAt: invite.expiresAt }
      }}
      queryKey={memberInvitesQuery.queryKey}
    />
  )
}

function Invites() {
  const query = useQuery(memberInvitesQuery)
  return (
    <Loaded query={query}>
      {({ items }) => (
        <OpenInvites
          items={items}
          nothing="No open invites."
          column={{ title: 'Role', show: ({ role }) => titles[role] }}
          revoke={(inviteId) => callApi('DELETE /api/members/invites/{inviteId}', { params: { inviteId } })}
          queryKey={memberInvitesQuery.queryKey}
        />
      )}
    </Loaded>
  )
}
