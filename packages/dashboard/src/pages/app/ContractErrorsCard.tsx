import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { AppView } from '@keyrail/gateway'
import { callApi } from '../../control/callApi.ts'
import { ControlFailure } from '../../control/controlFailure.ts'
import { contractErrorsQuery } from '../../control/queries.ts'
import { useMay } from '../../control/useMay.ts'
import { useStored } from '../../control/useStored.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Loaded } from '../../parts/Loaded.tsx'
import { Problem } from '../../parts/Note.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { TextField } from '../../parts/TextField.tsx'
import { countText } from '../../parts/times.ts'

/** The custom errors of the contracts that an app calls, which are added by pasting an ABI. */
export function ContractErrorsCard({ app }: { readonly app: AppView }) {
  const params = { appId: app.id }
  const queries = useQueryClient()
  const { say } = useDialogs()
  const may = useMay()
  const options = contractErrorsQuery(app.id)
  const query = useQuery(options)
  // A large one does not fit into the storage of the browser.
  const [text, setText, clear] = useStored(`${app.id}/abi`, '', { inMemory: true })
  const set = async (signatures: readonly string[]): Promise<number> => {
    const changed = await callApi('PUT /api/apps/{appId}/contract-errors', { params, body: { signatures } })
    queries.setQueryData(options.queryKey, changed)
    return changed.signatures.length
  }
  const adding = useSubmit({
    send: async () => {
      const { readErrors } = await import('../../requests/readErrors.ts')
      const read = readErrors(text)
      if ('problem' in read) {
        const fields = [{ field: 'abi', fix: read.problem }]
        throw new ControlFailure(`The ABI ${read.problem}`, { code: 'invalid', status: 0, fields })
      }
      // A colleague may have added others since the page was loaded.
      const { signatures } = await queries.fetchQuery({ ...options, staleTime: 0 })
      return set([...new Set([...signatures, ...read.signatures])])
    },
    done: (total) => {
      clear()
      say(`Saved: the app has ${countText(total)} ${total === 1 ? 'error' : 'errors'}`)
    },
    fields: ['abi'],
    titles: { signatures: 'The errors' },
  })
  const removing = useSubmit({ send: () => set([]), done: () => say('Removed') })
  return (
    <Card
      id="contract-errors"
      title="Contract errors"
      help="dashboard#requests"
      lead="Reverts in the request log are decoded with the custom errors of your contracts. Paste an ABI as JSON, or lines such as error Foo(uint256 a). Only its errors are stored."
    >
      <Loaded query={query}>
        {({ signatures }) =>
          signatures.length > 0 && (
            <>
              <pre tabIndex={0} role="region" aria-label="Stored errors" className="scroll">
                <code>{signatures.join('\n')}</code>
              </pre>
              <Problem text={removing.problem} />
              {may('apps:write') && (
                <div className="row end">
                  <Button busy={removing.isPending} onClick={() => removing.submit()}>
                    Remove all errors
                  </Button>
                </div>
              )}
            </>
          )
        }
      </Loaded>
      <SaveForm of={adding} action="Add errors" needs="apps:write" label="Add the errors of an ABI">
        <TextField label="ABI" name="abi" lines mono value={text} onChange={setText} fix={adding.getFix('abi')} />
      </SaveForm>
    </Card>
  )
}
