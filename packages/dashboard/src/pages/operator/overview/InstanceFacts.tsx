import type { InstanceView } from '@keyrail/gateway'
import { Card } from '../../../parts/Card.tsx'
import { bytesText, countText, dayText, momentText, msText, rateText } from '../../../parts/times.ts'
import { diskTitles, storeTitles } from './titles.ts'

/** Stores, queues, disks, the certificate and the config of the instance. */
export function InstanceFacts({ instance }: { readonly instance: InstanceView }) {
  return (
    <Card title="Instance" lead={`The host ${instance.name}, Keyrail ${instance.version}.`} help="service/monitoring">
      <dl className="facts">
        {toFacts(instance).map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

const toFacts = (instance: InstanceView): readonly (readonly [title: string, value: string])[] => {
  const { stores, load, lost, disks, certificateEndsAt, config } = instance
  return [
    ...stores.map(
      ({ name, isAvailable, checkMs }) =>
        [storeTitles[name] ?? name, isAvailable ? `Available, ${msText(checkMs)}` : 'Unavailable'] as const,
    ),
    ['Calls that wait for a node', countText(load.queuedCalls)],
    ['Requests in flight', countText(load.requests)],
    ['Connections', `${countText(load.connections)} of ${countText(load.maxConnections)}`],
    ['Memory for callers', `${bytesText(load.bufferedBytes)} of ${bytesText(load.maxBufferedBytes)}`],
    ['Counts to write', `${countText(load.unwrittenRows)} rows, ${msText(load.unwrittenMs)} old`],
    ...(load.databaseWaiting === null ? [] : [['Queries that wait', countText(load.databaseWaiting)] as const]),
    ...(load.redisPending === null ? [] : [['Redis commands in flight', countText(load.redisPending)] as const]),
    ...disks.map(
      ({ of, freeBytes, totalBytes }) =>
        [`Disk of ${diskTitles[of]}`, `${bytesText(freeBytes)} free (${rateText(freeBytes / totalBytes)})`] as const,
    ),
    [
      'Certificate',
      certificateEndsAt === null ? 'None here: a proxy may have one' : `Ends ${dayText(certificateEndsAt)}`,
    ],
    ['Config applied', momentText(config.appliedAt)],
    ['Needs a restart', config.needsRestart.length === 0 ? 'Nothing' : config.needsRestart.join(', ')],
    ['Not in the request log', `${countText(lost.requests)} requests`],
  ]
}
