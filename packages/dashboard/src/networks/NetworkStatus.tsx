import type { NodeCounts } from '@keyrail/gateway'
import { Note } from '../parts/Note.tsx'

/** How many nodes of a network are healthy, and what is wrong with the others. */
export function NetworkStatus(props: {
  /** `undefined` until it is loaded, and if it cannot be. */
  readonly nodes: NodeCounts | undefined
}) {
  const { nodes } = props
  if (nodes === undefined) return <p className="small soft">The status of the nodes is unknown.</p>
  const { healthy, lagging, down } = nodes
  const total = healthy + lagging + down
  const kind = healthy === 0 ? 'bad' : healthy < total ? 'warn' : 'good'
  const others = [lagging > 0 && `${lagging} lagging`, down > 0 && `${down} down`].filter((text) => text !== false)
  return (
    <>
      <div className="row">
        <span className={`badge ${kind}`}>
          <span className="dot" aria-hidden="true" />
          {healthy} of {total} {total === 1 ? 'node' : 'nodes'} healthy
        </span>
        {others.length > 0 && <span className="small soft">{others.join(', ')}</span>}
      </div>
      {healthy === 0 && <Note kind="warn">No node of this network is healthy, so calls may fail.</Note>}
    </>
  )
}
