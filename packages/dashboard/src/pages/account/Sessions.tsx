import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { OpenSessionView } from '@keyrail/gateway'
import { callApi } from '../../control/callApi.ts'
import { sessionsQuery } from '../../control/queries.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { browserText } from '../../parts/browserText.ts'
import { Button } from '../../parts/Button.tsx'
import { Card, focusHeading } from '../../parts/Card.tsx'
import { ConfirmedButton } from '../../parts/ConfirmedButton.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Loaded } from '../../parts/Loaded.tsx'
import { Problem } from '../../parts/Note.tsx'
import { TableHead } from '../../parts/TableHead.tsx'
import { momentText } from '../../parts/times.ts'

const cardId = 'sessions'

/** The browsers in which the user is logged in, each with a button that ends the session. */
export function Sessions() {
  const query = useQuery(sessionsQuery)
  return (
    <Loaded query={query}>
      {({ items }) => (
        <Card
          id={cardId}
          title="Sessions"
          lead="The browsers in which you are logged in. A session ends 7 days after its last use, and 30 days after the log-in."
          aside={items.length > 1 && <EndOthers />}
        >
          <div className="table-box" tabIndex={0} role="region" aria-label="Table of sessions">
            <table className="table cards">
              <TableHead titles={['Browser', 'Address', 'Logged in', 'Last used', 'Ends']} hasButtons />
              <tbody>
                {items.map((session) => (
                  <SessionRow key={session.id} session={session} />
                ))}
              </tbody>
            </table>
          </div>
        </Card>
      )}
    </Loaded>
  )
}

function EndOthers() {
  const queries = useQueryClient()
  const { say } = useDialogs()
  return (
    <ConfirmedButton
      kind="danger"
      size="little"
      title="End all other sessions?"
      lead="All other browsers are logged out at once. If you do not know one of them, change the password too."
      action="End all others"
      send={() => callApi('DELETE /api/account/sessions')}
      done={async () => {
        say('All other sessions have ended')
        await queries.invalidateQueries({ queryKey: sessionsQuery.queryKey })
        focusHeading(cardId)
      }}
    >
      End all others
    </ConfirmedButton>
  )
}

function SessionRow({ session }: { readonly session: OpenSessionView }) {
  const { id, current, ip, userAgent } = session
  const queries = useQueryClient()
  const { say } = useDialogs()
  const browser = browserText(userAgent)
  const { submit, isPending, problem } = useSubmit({
    send: () => callApi('DELETE /api/account/sessions/{sessionId}', { params: { sessionId: id } }),
    done: async () => {
      say('The session has ended')
      await queries.invalidateQueries({ queryKey: sessionsQuery.queryKey })
      focusHeading(cardId)
    },
  })
  return (
    <tr>
      <th scope="row">
        <span title={userAgent ?? undefined}>{browser}</span>{' '}
        {current && <span className="badge good">This session</span>}
        <Problem text={problem} />
      </th>
      <td data-label="Address">{ip ?? 'unknown'}</td>
      <td data-label="Logged in">{momentText(session.createdAt)}</td>
      <td data-label="Last used">{momentText(session.seenAt)}</td>
      <td data-label="Ends">{momentText(session.expiresAt)}</td>
      <td>
        {!current && (
          <div className="row end">
            <Button
              size="little"
              kind="danger"
              busy={isPending}
              label={`End the session: ${browser}, ${ip ?? 'unknown'}`}
              onClick={() => submit()}
            >
              End
            </Button>
          </div>
        )}
      </td>
    </tr>
  )
}
