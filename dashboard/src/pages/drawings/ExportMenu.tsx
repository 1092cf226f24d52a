/** Downloads of a drawing, one row per format of the API. */
import { Download } from "lucide-react";
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { graphUrl } from "../../features/drawing/queries";
import { Button } from "../../ui/Button";

const FORMATS = [
  { id: "svg", label: "Picture (SVG)", extension: "svg" },
  { id: "json", label: "Graph (JSON)", extension: "json" },
  { id: "graphml", label: "GraphML", extension: "graphml" },
  { id: "csv", label: "Items (CSV)", extension: "csv" },
  { id: "xlsx", label: "Items and connections (XLSX)", extension: "xlsx" },
  { id: "dexpi", label: "DEXPI 2.0", extension: "dexpi.xml" },
  { id: "proteus", label: "Proteus XML", extension: "proteus.xml" },
];

export function ExportMenu({ graphId }: { graphId: string }) {
  return (
    <MenuTrigger>
      <Button>
        <Download size={16} aria-hidden /> Export
      </Button>
      <Popover className="popover">
        <Menu
          className="menu"
          items={FORMATS}
          aria-label="Format"
          onAction={(id) => save(graphId, String(id))}
        >
          {(format) => (
            <MenuItem id={format.id} className="menu-item">
              {format.label}
            </MenuItem>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

function save(graphId: string, id: string): void {
  const format = FORMATS.find((format) => format.id === id);
  if (!format) return;
  const link = document.createElement("a");
  link.href = graphUrl(graphId, { format: format.id });
  link.download = `${graphId}.${format.extension}`;
  link.click();
}
