import { snippet, snippetLanguages } from '@keyrail/snippets'
import type { SnippetLibrary } from '@keyrail/snippets'
import type { RequestDetailsView } from '@keyrail/gateway'
import { useState } from 'react'
import type { KeySubject } from '../control/queries.ts'
import { useNetworks } from '../networks/useNetworks.ts'
import { Card } from '../parts/Card.tsx'
import { SelectField } from '../parts/SelectField.tsx'
import { RunPanel } from '../run/RunPanel.tsx'
import { getAddress, getUrl } from '../snippet/endpointUrls.ts'
import { ProgramFigure } from '../snippet/ProgramFigure.tsx'
import type { KeyHolder } from '../snippet/useKeyHolder.ts'
import { getReplay } from './getReplay.ts'
import type { Replay as ReplayOfRequest } from './getReplay.ts'

const libraries = snippetLanguages
  .flatMap((language) => language.libraries)
  // The first one is the shortest.
  .toSorted((one, other) => Number(other.id === 'curl') - Number(one.id === 'curl'))

const leads: Readonly<Record<ReplayOfRequest['source'], string>> = {
  log: 'The same call with the recorded params, with the current key.',
  example: 'The params were not recorded, so this is the example for its method, with the current key.',
  none: 'The params were not recorded, so this call has none. It uses the current key.',
}

/** Repeats a request: as a program to copy, or from the page. */
export function Replay(props: {
  readonly request: RequestDetailsView
  readonly subject: KeySubject
  readonly holder: KeyHolder
  readonly requireJwt: boolean
}) {
  const { request, subject, holder } = props
  const { find } = useNetworks()
  const [libraryId, setLibrary] = useState<SnippetLibrary>('curl')
  const replay = getReplay(request)
  const network = find(request.network)
  const library = libraries.find(({ id }) => id === libraryId)
  if (replay === undefined || network === undefined || library === undefined) return null
  return (
    <Card
      title="Repeat the request"
      lead={`${leads[replay.source]}${request.calls > 1 ? ' Only this call of the batch.' : ''}`}
    >
      <div className="selects">
        <SelectField
          label="Copy as"
          name="library"
          value={library.id}
          onChange={setLibrary}
          options={libraries.map(({ id, title, language }) => ({
            value: id,
            title: `${title}, ${snippetLanguages.find((one) => one.id === language)?.title ?? language}`,
          }))}
        />
      </div>
      <ProgramFigure
        label={`The request with ${library.title}`}
        language={library.language}
        program={snippet({
          ...replay.program,
          library: library.id,
          address: getAddress(subject, network),
          symbol: network.symbol,
        })}
      />
      <RunPanel
        holder={holder}
        subject={subject}
        toUrl={(apiKey) => getUrl(subject, network, apiKey)}
        steps={replay.steps}
        stepsId={request.id}
        requireJwt={props.requireJwt}
      />
    </Card>
  )
}
