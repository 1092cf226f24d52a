/** An event with all its fields. */

import { eventType } from "../../features/operation/eventTypes";
import { eventPath, type PlatformEvent } from "../../features/operation/platformEvent";
import { ButtonLink } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { Dialog } from "../../ui/Dialog";

export function EventDialog({ event, onClose }: { event: PlatformEvent | null; onClose: () => void }) {
  const row = eventType(event?.type ?? "");
  const json = JSON.stringify(event, null, 2);
  const path = event && eventPath(event);
  return (
    <Dialog title={row.label} isOpen={event !== null} onClose={onClose} size="wide">
      <p className="muted">{row.description}</p>
      <section className="event-json" aria-label="Event as JSON">
        <pre>{json}</pre>
      </section>
      <div className="dialog-actions">
        <CopyButton text={json} label="Copy the event as JSON" />
        {path && (
          <ButtonLink size="small" kind="primary" href={path}>
            Open what it is about
          </ButtonLink>
        )}
      </div>
    </Dialog>
  );
}
