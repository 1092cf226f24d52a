/** Menu that saves the result of a query as a file. */
import { Download } from "lucide-react";
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Button } from "../../ui/Button";
import { saveFile } from "../../ui/saveFile";
import { showError } from "../../ui/toast";
import { RESULT_FORMATS, resultFile } from "./service";

export function Downloads({ graphId, query }: { graphId: string; query: string }) {
  const save = async (id: string) => {
    const format = RESULT_FORMATS.find((row) => row.id === id);
    if (!format) return;
    try {
      saveFile(await resultFile(graphId, query, format), `${graphId}.${format.extension}`);
    } catch (error) {
      showError(error);
    }
  };
  return (
    <MenuTrigger>
      <Button size="small">
        <Download size={15} aria-hidden /> Download
      </Button>
      <Popover className="popover">
        <Menu className="menu" onAction={(key) => save(String(key))}>
          {RESULT_FORMATS.map((format) => (
            <MenuItem key={format.id} id={format.id} className="menu-item">
              {format.label}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
