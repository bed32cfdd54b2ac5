import { useQuery } from '@tanstack/react-query'
import { allowListQuery } from '../../control/queries.ts'
import { Card } from '../../parts/Card.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Needs } from '../../parts/Needs.tsx'
import { TableBox } from '../../parts/TableBox.tsx'
import { TableHead } from '../../parts/TableHead.tsx'
import { AllowEntryRow } from './allowList/AllowEntryRow.tsx'
import { AllowListForm } from './allowList/AllowListForm.tsx'
import { allowTypes } from './allowList/allowTypes.ts'
import type { AllowType } from './allowList/allowTypes.ts'
import { useApp } from './useApp.ts'

/** The allow list of an app: which callers, methods and addresses it accepts. */
export function AppAllowList() {
  const app = useApp()
  const query = useQuery(allowListQuery(app.id))
  return (
    <Card
      id="allow-list"
      title="Allow list"
      lead="A call must match one entry of each type that has entries. A type without entries allows every call."
    >
      <Needs scope="apps:write">
        <AllowListForm appId={app.id} list={query.data} />
      </Needs>
      <Loaded query={query}>
        {({ items }) => (
          <TableBox label="Entries of the allow list">
            <table className="table cards">
              <TableHead titles={['Type', 'Value', 'Label', 'Last use', 'Added']} hasButtons />
              <tbody>
                {allowTypes.map((type) => {
                  const entries = items.filter((entry) => entry.type === type.id)
                  if (entries.length === 0) return <NoEntry key={type.id} type={type} />
                  return entries.map((entry) => (
                    <AllowEntryRow
                      key={entry.id}
                      appId={app.id}
                      entry={entry}
                      type={type}
                      isLast={entries.length === 1}
                    />
                  ))
                })}
              </tbody>
            </table>
          </TableBox>
        )}
      </Loaded>
    </Card>
  )
}

function NoEntry({ type }: { readonly type: AllowType }) {
  return (
    <tr className="soft">
      <td>{type.one}</td>
      <td colSpan={5}>Everything is allowed.</td>
    </tr>
  )
}
