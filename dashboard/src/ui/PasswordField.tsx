/** A field for a secret, which a button shows. */
import { Eye, EyeOff } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import {
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  FieldError,
  Input,
  Label,
  Text,
} from "react-aria-components";
import { IconButton } from "./Button";

type PasswordFieldProps = Omit<AriaTextFieldProps, "className" | "children" | "type"> & {
  label: string;
  description?: ReactNode;
  error?: string | undefined;
  /** Content that the button shows, with a small letter. */
  shows?: string;
};

export function PasswordField({
  label,
  description,
  error,
  shows = "password",
  ...props
}: PasswordFieldProps) {
  const [isShown, setShown] = useState(false);
  const inputRef = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // What is sent is hidden again: browsers offer to save the content of a password field only.
    const hide = () => setShown(false);
    const form = inputRef.current?.form;
    form?.addEventListener("submit", hide);
    return () => form?.removeEventListener("submit", hide);
  }, []);
  return (
    <AriaTextField
      {...props}
      type={isShown ? "text" : "password"}
      isInvalid={error !== undefined}
      className="field"
    >
      <Label>{label}</Label>
      <span className="password-input">
        <Input ref={inputRef} className="input" spellCheck={false} autoCapitalize="none" />
        <IconButton label={`${isShown ? "Hide" : "Show"} the ${shows}`} onPress={() => setShown(!isShown)}>
          {isShown ? <EyeOff size={16} aria-hidden /> : <Eye size={16} aria-hidden />}
        </IconButton>
      </span>
      {description && <Text slot="description">{description}</Text>}
      <FieldError>{error}</FieldError>
    </AriaTextField>
  );
}
