import { useQueryClient } from '@tanstack/react-query'
import { useSubmit } from '../control/useSubmit.ts'
import { Button } from './Button.tsx'
import { Card } from './Card.tsx'
import { useDialogs } from './dialogs.ts'
import { Problem } from './Note.tsx'
import { momentText } from './times.ts'
import { TableHead } from './TableHead.tsx'

interface Invite {
  readonly id: string
  readonly email: string | null
  readonly expiresAt: string
}

interface InviteList<Shown> {
  /** What else is shown about an invite. */
  readonly column: { readonly title: string; readonly show: (invite: Shown) => string | undefined }
  readonly revoke: (inviteId: string) => Promise<unknown>
  /** The key of the query that lists the invites. */
  readonly queryKey: readonly string[]
}

/** The invites that nobody has accepted yet. */
export function OpenInvites<Shown extends Invite>(
  props: InviteList<Shown> & { readonly items: readonly Shown[]; readonly nothing: string },
) {
  const { items, column } = props
  return (
    <Card title="Open invites">
      {items.length === 0 ? (
        <p className="soft">{props.nothing}</p>
      ) : (
        <table className="table cards">
          <TableHead titles={['For', column.title, 'Expires']} hasButtons />
          <tbody>
            {items.map((invite) => (
              <Row key={invite.id} {...props} invite={invite} />
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}

function Row<Shown extends Invite>({
  invite,
  column,
  revoke,
  queryKey,
}: InviteList<Shown> & { readonly invite: Shown }) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const whom = invite.email ?? 'anyone with the link'
  const { submit, isPending, problem } = useSubmit({
    send: () => revoke(invite.id),
    done: async () => {
      say('Invite revoked')
      await queries.invalidateQueries({ queryKey })
    },
  })
  return (
    <tr>
      <th scope="row">
        {whom}
        <Problem text={problem} />
      </th>
      <td data-label={column.title}>{column.show(invite)}</td>
      <td data-label="Expires">{momentText(invite.expiresAt)}</td>
      <td>
        <div className="row end">
          <Button
            size="little"
            kind="danger"
            busy={isPending}
            label={`Revoke the invite for ${whom}`}
            onClick={() => submit()}
          >
            Revoke
          </Button>
        </div>
      </td>
    </tr>
  )
}
