/** The page "Accounts": users of the tenant, and OAuth clients for programs. */
import { useNavigate, useParams } from "react-router";
import { useSession } from "../../features/session/session";
import { Page } from "../../ui/Page";
import { Tabs } from "../../ui/Tabs";
import { Clients } from "./Clients";
import { Users } from "./Users";

export default function AccountsPage() {
  const session = useSession();
  const navigate = useNavigate();
  const tab = useParams()["*"] === "clients" ? "clients" : "users";
  const isOpen = session.data?.signed_in && session.data.auth === "off";
  return (
    <Page
      title="Accounts"
      description="Users who sign in, and OAuth clients for programs. Limits of a user are for documents; drawings have permissions of their own."
    >
      {isOpen ? (
        <p>The service runs without accounts: everyone on this machine has full access.</p>
      ) : (
        <Tabs
          label="Accounts"
          selected={tab}
          onSelect={(id) => navigate(id === "clients" ? "/users/clients" : "/users")}
          tabs={[
            { id: "users", label: "Users", content: <Users /> },
            { id: "clients", label: "OAuth clients", content: <Clients /> },
          ]}
        />
      )}
    </Page>
  );
}
