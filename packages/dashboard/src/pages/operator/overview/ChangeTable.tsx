import { Link } from '@tanstack/react-router'
import type { OverviewView } from '@keyrail/gateway'
import { useNetworks } from '../../../networks/useNetworks.ts'
import { toOperatorLink } from '../../../parts/AuditRecord.tsx'
import { recordText } from '../../../parts/auditWords.ts'
import { Card } from '../../../parts/Card.tsx'
import { TableBox } from '../../../parts/TableBox.tsx'
import { TableHead } from '../../../parts/TableHead.tsx'
import { shortMomentText } from '../../../parts/times.ts'
import { listChanges } from './listChanges.ts'

/** What changed lately, and when errors began. */
export function ChangeTable({ overview }: { readonly overview: OverviewView }) {
  const { getTitle } = useNetworks()
  return (
    <Card
      title="Recent changes"
      lead="Changes below “Errors began” were made before it."
      aside={<Link to="/operator/audit">Audit log</Link>}
    >
      <TableBox label="Table of recent changes">
        <table className="table cards">
          <TableHead titles={['Time', 'Change', 'By']} />
          <tbody>
            {listChanges(overview, getTitle).map(({ key, at, title, detail, by, isErrors }) => (
              <tr key={key}>
                <td className="when">
                  <time dateTime={at}>{shortMomentText(at)}</time>
                </td>
                <th scope="row">
                  {isErrors ? <span className="badge bad">{title}</span> : title}
                  {detail !== '' && <p className="hint break">{detail}</p>}
                </th>
                <td data-label="By">{by === undefined ? '–' : toAuthor(...by)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
    </Card>
  )
}

const toAuthor = (id: string, name: string | null) => (name === null ? recordText(id, name) : toOperatorLink(id, name))
